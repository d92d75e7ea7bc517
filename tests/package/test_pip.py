"""The Python packages: the wheel that scripts/build made, the same repaired; the sdist, built on a
machine without the libraries."""

import modulefinder
import re
import sys
import tarfile
import tomllib
import zipfile

import pytest
from packages import FILTERS, run
from products import OUT, ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
MODULE = re.compile(r"bloomfilter/_bloomfilter\.[\w-]+\.so")


@pytest.fixture(scope="session")
def wheel():
    (found,) = (OUT / "dist").glob("*.whl")
    return found


@pytest.fixture(scope="session")
def sdist(source, tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, *"-m build --sdist --no-isolation --outdir".split(), folder, source)
    (found,) = folder.glob("*.tar.gz")
    return found


def test_sdist_has_what_the_tests_need(sdist):
    with tarfile.open(sdist) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    for (
        pattern
    ) in """core/**/*.[ch] python-ext/**/*.* tests/helpers/*.* tests/python/**/*.py tests/vectors/*
        README.md LICENSE CHANGELOG.md""".split():
        wanted = {
            str(path.relative_to(ROOT))
            for path in ROOT.glob(pattern)
            if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".so"
        }
        assert wanted and wanted <= names, wanted - names
    assert not any(name.startswith(("php-ext/", "out/")) for name in names)
    assert [
        name for name in names if name.startswith("docs/") and name.endswith((".md", ".1", ".3"))
    ] == ["docs/man/bloomfilter.1"]


def test_wheel_holds_the_package_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        everything = [name for name in archive.namelist() if ".dist-info/" not in name]
    data = [name for name in everything if ".data/" in name]
    names = [name for name in everything if name not in data]
    sources = {
        f"bloomfilter/{path.relative_to(ROOT / 'python-ext/bloomfilter')}"
        for path in (ROOT / "python-ext/bloomfilter").rglob("*.*")
    }
    assert {name for name in names if not MODULE.fullmatch(name)} == {
        name for name in sources if not name.endswith((".pyc", ".so"))
    }
    assert len([name for name in names if MODULE.fullmatch(name)]) == 1
    assert [name.split(".data/", 1)[1] for name in data] == ["data/share/man/man1/bloomfilter.1"]


def test_wheel_is_small(wheel):
    assert wheel.stat().st_size <= 510_000  # the promise of no document: a jump is a mistake


def test_wheel_works(wheel, pip, tmp_path):
    assert pip(wheel, tmp_path / "here")(FILTERS, "libsodium", "OpenSSL") == "libsodium OpenSSL\n"


def test_repaired_wheel_brings_its_libraries(wheel, pip, tmp_path):
    run(
        sys.executable,
        *"-m auditwheel repair -w".split(),
        tmp_path,
        wheel,
        env={"PATH": f"{sys.prefix}/bin:/usr/bin:/bin"},
    )
    (repaired,) = tmp_path.glob("*.whl")
    assert re.search(r"-manylinux_2_\d+_\w+\.whl$", repaired.name), repaired.name
    with zipfile.ZipFile(repaired) as archive:
        libraries = {
            re.match(r"lib[a-z]+", name.rsplit("/", 1)[1])[0]
            for name in archive.namelist()
            if ".libs/lib" in name
        }
    assert libraries == {"libsodium"}
    assert (
        pip(repaired, tmp_path / "here")(FILTERS, "libsodium", "OpenSSL") == "libsodium OpenSSL\n"
    )
    (module,) = (tmp_path / "here").rglob("_bloomfilter*.so")
    assert "bloomfilter_shared.libs" in run("ldd", module)


def test_the_readmes_commands_in_an_sdist_without_the_libraries(sdist, follow, tmp_path):
    """It makes an environment of its own in the tree.  What a secret and a redis:// storage are told
    without a library is looked at by built_with.py: the missing library's name."""
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path)
    (tree,) = tmp_path.iterdir()
    say = "import bloomfilter; print(bloomfilter.BloomFilter(1000, 100).add(42), bloomfilter.__file__)"
    behind = f"cd /\npython -c '{say}'\npython {FILTERS}\n"
    said = follow("README.md", "pip install", tree, behind, PKG_CONFIG="false")
    assert said.splitlines()[-2].startswith(f"True {tree}/.venv/") and said.endswith("\n\n")


CALLS = """
import io, pickle
from bloomfilter import BloomFilter
from bloomfilter.compat.rbloom import Bloom
b = BloomFilter(n=1000, p=0.01)
calls = (lambda: b.add("x"), lambda: Bloom(9, 0.1), lambda: repr(b), lambda: pickle.dumps(b), b.to_base64, b.to_json, lambda: list(b.add_mask(["a"])),
         lambda: b.save(io.BytesIO()), lambda: BloomFilter(capacity=1000, error_rate=0.01),
         lambda: BloomFilter(n=9, p=0.1, storage=object(), key="k"))
"""
LOADED = """
import sys
before = set(sys.modules)
exec(open(sys.argv[0]).read())
for call in calls:
    try: call()
    except Exception: pass
print(*set(sys.modules) - before)
"""


def test_a_frozen_program_has_what_only_the_c_code_imports(wheel, pip, tmp_path):
    """PyInstaller and the like follow the imports of byte code, as modulefinder does."""
    run_script = pip(wheel, tmp_path / "here")
    (tmp_path / "calls.py").write_text(CALLS)
    (tmp_path / "loaded.py").write_text(LOADED.replace("sys.argv[0]", f"'{tmp_path}/calls.py'"))
    loaded = set(run_script(tmp_path / "loaded.py").split())
    library = [path for path in sys.path[1:] if "site-packages" not in path]
    finder = modulefinder.ModuleFinder([str(tmp_path / "here"), *library])
    finder.run_script(str(tmp_path / "calls.py"))
    assert {"bloomfilter._pickle", "bloomfilter._redis"} <= loaded
    assert {name for name in loaded if not name.startswith("_")} <= set(finder.modules)


def test_no_build_without_xxhash_and_the_message_says_what_to_install(sdist, pip, tmp_path):
    (tmp_path / "xxhash.h").write_text("#error none\n")
    with pytest.raises(AssertionError, match="apt-get install libxxhash-dev"):
        pip(
            sdist,
            tmp_path / "here",
            "--no-build-isolation",
            PKG_CONFIG="false",
            CPATH=str(tmp_path),
        )


def test_cibuildwheel_builds_for_the_pythons_that_the_classifiers_name():
    named = {
        name.rsplit(" ", 1)[1]
        for name in PROJECT["project"]["classifiers"]
        if re.search(r":: 3\.\d+$", name)
    }
    built = PROJECT["tool"]["cibuildwheel"]["build"].split()
    assert {f"cp3{version[2:]}-*" for version in named} | {"cp314t-*"} == set(built)
    assert min(named, key=lambda version: int(version[2:])) == PROJECT["project"][
        "requires-python"
    ].strip(">=")
    assert "Typing :: Typed" in PROJECT["project"]["classifiers"]
