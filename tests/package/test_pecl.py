"""The PHP packages: the archive that pecl makes of package.xml, built out of its tree and without
the optional libraries; what composer.json promises to PIE; what config.w32 says."""

import json
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from packages import JOBS, run
from products import OUT, PHP_VERSION, ROOT, VERSION


@pytest.fixture(scope="session")
def archive(source, tmp_path_factory):
    folder = tmp_path_factory.mktemp("pecl")
    said = run("pear", "package-validate", source / "package.xml")
    told = [
        line for line in said.splitlines() if line and "is not today" not in line
    ]  # a release is older the next day
    assert len(told) == 1 and told[0].startswith("Validation: 0 error(s)"), said
    run("pear", "package", source / "package.xml", cwd=folder)
    return folder / f"bloomfilter-{PHP_VERSION}.tgz"


def unpack(archive, folder):
    with tarfile.open(archive) as tar:
        tar.extractall(folder)
    return folder / f"bloomfilter-{PHP_VERSION}"


def copy_objects(folder, word="\0"):
    """What scripts/build compiled of these sources stays; sources with this word are compiled."""
    sources = [*ROOT.glob("core/**/*.c"), *ROOT.glob("php-ext/*.c")]
    again = {path.stem for path in sources if word in path.read_text()}

    def others(_, names):
        objects = [name for name in names if name.endswith((".lo", ".o"))]
        kept = {".libs", *(name for name in objects if name.split(".")[0] not in again)}
        return [name for name in names if "." in name and name not in kept]

    how = {"ignore": others, "dirs_exist_ok": True, "copy_function": shutil.copy}  # as new
    for part in ("core", "php-ext"):
        shutil.copytree(OUT / "stage/php" / part, folder / part, **how)


@pytest.fixture(scope="session")
def unpacked(archive):
    folder = unpack(archive, archive.parent)
    run("phpize", cwd=folder)
    return folder


@pytest.fixture(scope="session")
def built(unpacked, machine):
    """In a folder beside the sources, without libsodium and OpenSSL."""
    folder = unpacked.parent / "build"
    folder.mkdir()
    without = ("--without-bloomfilter-tls", "--without-bloomfilter-sodium")
    run(unpacked / "configure", *without, cwd=folder, env=machine)
    copy_objects(folder, "BF_HAVE_")
    run("make", JOBS, cwd=folder, env=machine)
    return folder / "modules" / "bloomfilter.so"


def test_the_readmes_commands(archive, follow, machine, tmp_path):
    folder = unpack(archive, tmp_path)
    copy_objects(folder)
    command = "./configure --enable-bloomfilter"  # PHP's own part warns where TERM is unknown
    follow("README.md", "phpize", folder, change=(command, f"TERM=xterm {command} 2>errors"))
    assert (folder / "errors").read_text() == ""
    (module,) = Path(machine["DESTDIR"]).rglob("bloomfilter.so")
    said = php(module, "-r", "var_dump((new BloomFilter(1000, 100))->add(42));")
    assert said == "bool(true)\n"


def php(built, *arguments):
    return run(php_binary(), "-n", "-d", f"extension={built}", *arguments)


def php_binary():
    return run("php-config", "--php-binary").strip()


def test_archive_has_every_source(archive):
    with tarfile.open(archive) as tar:
        names = {name.split("/", 1)[1] for name in tar.getnames() if "/" in name}
    for pattern in (
        "config.*",
        "core/**/*.[ch]",
        "php-ext/*.*",
        "tests/php/*.phpt",
        "tests/php/*.inc",
        "tests/vectors/*.txt",
    ):
        wanted = {str(path.relative_to(ROOT)) for path in ROOT.glob(pattern)} - {
            "config.log",
            "config.nice",
            "config.status",
            "config.h",
            "config.h.in",
        }
        assert wanted and wanted <= names, wanted - names


def test_what_a_build_without_the_libraries_says(built):
    ask = """foreach ([['secret' => str_repeat('x', 16)], ['storage' => 'rediss://127.0.0.1:1/0?key=x'], []] as $arguments)
        try { new BloomFilter(1000, 100, ...$arguments); echo "made\n"; }
        catch (BloomFilterException $e) { echo $e->getCode() === BloomFilterException::NOT_SUPPORTED ? '' : 'not ', $e->getMessage(), "\n"; }"""
    secret, tls, plain = php(built, "-r", ask).splitlines()
    assert secret == "secret needs libsodium, which this build lacks"
    assert tls.startswith("storage rediss://") and "OpenSSL for TLS" in tls
    assert plain == "made"


def test_phpinfo_names_the_version_and_what_is_not_built_in(built):
    table = dict(
        line.split(" => ", 1)
        for line in php(built, "--ri", "bloomfilter").splitlines()
        if " => " in line
    )
    assert (table["bloomfilter"], table["core"]) == (PHP_VERSION, VERSION)
    assert table["libsodium (keyed filters)"] == table["OpenSSL (rediss://)"] == "not built in"
    assert re.fullmatch(r"\d+\.\d+\.\d+", table["xxHash (compiled in)"])


def test_the_archives_own_tests_run(built, unpacked):
    names = [
        unpacked / "tests" / "php" / f"{name}.phpt"
        for name in ("add_is_true_for_new", "addHashes", "storage_replaced")
    ]
    said = run(
        php_binary(),
        *"-n run-tests.php -n -q -p".split(),
        php_binary(),
        "-d",
        f"extension={built}",
        *names,
        cwd=unpacked,
        env={"NO_INTERACTION": "1", "PATH": "/usr/bin:/bin"},
    )
    assert re.search(r"Tests passed +: +3 ", said), said


def test_composer_json_promises_what_configure_takes(unpacked):
    composer = json.loads((ROOT / "composer.json").read_text())
    assert composer["type"] == "php-ext" and composer["php-ext"]["extension-name"] == "bloomfilter"
    assert "version" not in composer  # PIE takes it from the tag
    options = set(
        re.findall(
            r"--(?:with|without|enable)-(bloomfilter[\w-]*)", run(unpacked / "configure", "--help")
        )
    )
    promised = {
        re.sub("^(with|without|enable)-", "", option["name"])
        for option in composer["php-ext"]["configure-options"]
    }
    assert promised and promised <= options


def test_config_w32_refuses_in_words(tmp_path):
    """Run by node, where there is one, as configure.js would."""
    text = (ROOT / "config.w32").read_text()
    assert "not ported" in text
    if not shutil.which("node"):
        return
    around = 'var PHP_BLOOMFILTER = "%s"; function ARG_ENABLE() {} function ERROR(text) { console.log(text); }\n'
    for asked, said in (("yes", "bloomfilter is not ported to Windows"), ("no", "")):
        script = Path(tmp_path, "configure.js")
        script.write_text(around % asked + text)
        assert run("node", script).startswith(said) and bool(run("node", script)) == bool(said)


def test_the_archive_for_pie_has_the_name_that_it_looks_for(built, tmp_path):
    """php/pie, PrePackagedBinaryAssetName; a module that cannot do everything is refused."""
    tool = ROOT / "scripts" / "pie-archive"
    zts = run(
        php_binary(), "-n", "-r", "echo PHP_MAJOR_VERSION, '.', PHP_MINOR_VERSION, '-', PHP_ZTS;"
    )
    version, _, threads = zts.partition("-")
    assert re.fullmatch(
        rf"php_bloomfilter-{re.escape(VERSION.lower())}_php{re.escape(version)}-(x86_64|arm64)-linux-(glibc|musl)"
        rf"(-debug)?{'-zts' if threads == '1' else ''}\.zip\n",
        run(tool, "--name"),
    )
    done = subprocess.run([tool, built, tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "secret needs libsodium" in done.stdout + done.stderr
    assert not list(tmp_path.iterdir())
