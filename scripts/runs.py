"""runs - what noxfile.py and scripts/machines share: commands, copies of sources, PHP's tests, and
results in out/results as JUnit has them.  Knows nothing of what is tested, or where."""

import os
import re
import shlex
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "out"
STAGE, RESULTS = OUT / "stage", OUT / "results"
DONE = []  # names of the results since the last summary
ONLY = ""  # a word that tests must have in their names
JOBS = os.environ.get("BLOOMFILTER_JOBS") or str(os.cpu_count())
AS_ROOT = [] if os.geteuid() == 0 else ["sudo"]
WHEEL = (
    "setup.py pyproject.toml MANIFEST.in README.md LICENSE CHANGELOG.md core python-ext docs/man"
)
EXTENSION = "config.m4 core php-ext"
PYTEST = "-m pytest -p no:cacheprovider -p no:rerunfailures -q -rfEs"


class Failed(Exception):
    """A command that others need has failed."""


def run(*command, cwd=ROOT, check=True, **env):
    """Its exit code; where that is not 0, an exception, unless check is false."""
    words = [str(word) for word in command]
    print("+", shlex.join(words), flush=True)
    done = subprocess.run(words, cwd=cwd, env={**os.environ, **env}, stdin=subprocess.DEVNULL)
    if done.returncode and check:
        raise Failed(f"exit code {done.returncode}: {shlex.join(words)}")
    return done.returncode


def said(*command, **env):
    """What a command prints, whether it fails or not."""
    kept = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    return subprocess.run([*map(str, command)], cwd=ROOT, env={**os.environ, **env}, **kept).stdout


def provide(*needs, packages=""):
    """Installs what is missing: functions of lib.sh, and packages of Debian's."""
    wants = [f"want {name!r} packaged {name.replace('|', ' ')}" for name in packages.split()]
    packaged = "packaged() { dpkg-query -Wf '${db:Status-Status} ' \"$@\" | grep -qw installed; }"
    script = f'. scripts/lib.sh; {packaged}; needs_packages() {{ {"; ".join(["true", *wants])}; }}; provide "$@"'
    run("bash", "-c", script, "scripts/machines", "needs_packages", *needs)


def copy(names, to):
    """A folder with these files and folders of the tree, and nothing else."""
    shutil.rmtree(to, ignore_errors=True)
    for name in names.split():
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy2)(ROOT / name, to / name)
    return to


def result(name, cases):
    """Writes what is no tool's: test -> what is wrong, or nothing.  Is all right?"""
    suite = ElementTree.Element("testsuite", name=name, tests=str(len(cases)))
    for case, wrong in cases.items():
        row = ElementTree.SubElement(suite, "testcase", classname=name, name=case)
        if wrong:
            ElementTree.SubElement(row, "failure", message=wrong[:200]).text = wrong
    RESULTS.mkdir(parents=True, exist_ok=True)
    ElementTree.ElementTree(suite).write(RESULTS / f"{name}.xml", encoding="unicode")
    DONE.append(name)
    return not any(cases.values())


def tests(name, *command, written=None, **around):
    """Runs a tool that writes out/results/NAME.xml, or the file WRITTEN.  Has all passed?"""
    xml = RESULTS / f"{name}.xml"
    RESULTS.mkdir(parents=True, exist_ok=True)
    for old in (xml, xml.with_suffix(".exit"), written or xml):  # .exit: of scripts/test
        old.unlink(missing_ok=True)
    code = run(*command, check=False, **around)
    if ONLY and code == 5:  # of pytest: none has that in its name
        return True
    if written and written.exists() and written != xml:
        shutil.copyfile(written, xml)
    if not xml.exists() or (code and not re.search("<(failure|error)", xml.read_text())):
        return result(name, {shlex.join(map(str, command)): f"exit code {code}"})
    DONE.append(name)
    return code == 0


def summary(**env):
    """Tells what happened since the last summary; the last line is the sum.  Returns an exit code."""
    paths = [RESULTS / f"{name}.xml" for name in DONE]
    DONE.clear()
    run("scripts/results", *paths, **env)
    return run("scripts/results", "--sum", *paths, check=False, **env)


def ctest(name, *arguments, **env):
    """C tests.  Each program counts its own: the line is in the output that CTest keeps."""
    xml = ["--output-junit", RESULTS / f"{name}.xml", "--test-output-size-passed", "1048576"]
    none = "ignore" if ONLY else "error"
    words = [*arguments, "-j", JOBS, "--output-on-failure", f"--no-tests={none}"]
    return tests(name, "ctest", *words, *xml, **env)


def pytest(name, python, *arguments, at=ROOT, seen=ROOT, **env):
    """PYTHON: words that run one.  Where AT is a tree in a chroot, it is SEEN there as SEEN."""
    written = at / "out" / "results" / f"{name}.xml"
    written.parent.mkdir(parents=True, exist_ok=True)
    junit = [f"--junitxml={seen / 'out' / 'results' / name}.xml", "-o", f"junit_suite_name={name}"]
    arguments += ("-k", ONLY) if ONLY else ()
    env = {"HYPOTHESIS_STORAGE_DIRECTORY": str(OUT / "hypothesis"), **env}
    return tests(name, *python, *PYTEST.split(), *junit, *arguments, written=written, **env)


def phpize(folder, tool="phpize", *options, prefix=(), **env):
    """Builds the extension in this folder; PREFIX: words that go to where it is built."""
    for command in ([tool], ["./configure", "-q", *options], ["make", "-s", "-j", JOBS]):
        run(*prefix, *command, cwd=folder, **env)


def phpt(name, php, built, only=(), options=(), prefix=(), at=ROOT, seen=ROOT, runner=None, **env):
    """tests/php with the extension BUILT by phpize, in a copy; where AT is a tree in a chroot, it is
    SEEN there as SEEN, and PREFIX goes there.  RUNNER: the PHP of run-tests.php, if not PHP."""
    folder, where = at / "out" / "stage" / f"phpt-{name}", seen / "out" / "stage" / f"phpt-{name}"
    copy("tests/php tests/vectors", folder / "tests")
    redis = []
    for modules in (["igbinary", "redis"], ["redis"]):  # Debian's phpredis needs igbinary
        flags = [word for module in modules for word in ("-d", f"extension={module}.so")]
        asked = [*prefix, php, "-n", *flags, "-r", 'echo class_exists("Redis", false);']
        redis = redis or (flags if said(*asked).strip() == "1" else [])
    found = sorted(one for one in folder.rglob("*.phpt") if ONLY in one.stem)
    files = [where / one.relative_to(folder) for one in found if one.stem in only or not only]
    # After a minute run-tests would end a test, and a PHP that is ended so has leaks.
    env = {"TEST_TIMEOUT": "1200", "NO_INTERACTION": "1", **env, "TEST_PHP_EXECUTABLE": php}
    env["TEST_PHP_JUNIT"] = where / "junit.xml"
    around = ["env", *(f"{key}={value}" for key, value in env.items())]
    tool = [runner or php, "-n", built.parents[1] / "run-tests.php", "-n", "-q", f"-j{JOBS}"]
    tool += ["--show-diff", *options, *redis, "-d", f"extension={built}", *files]
    return tests(name, *prefix, *around, *tool, cwd=folder, written=folder / "junit.xml")
