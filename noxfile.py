"""noxfile - the tests with other Pythons, and under what watches memory and threads.

    nox -l                              the sessions; nox runs all
    nox -s php_asan tsan                these
    nox -s python_asan -- -k surrogate  arguments of pytest or of ctest, or names of .phpt files

Results are in out/results.  Knows how a watcher gets into an interpreter that was not built for it;
knows nothing of the tests but which cannot be watched.  Other systems: scripts/machines."""

import os
import shutil
import sys
from pathlib import Path

import nox

sys.path.insert(0, str(Path(__file__).parent / "scripts"))
from runs import EXTENSION, JOBS, OUT, STAGE, WHEEL, Failed, copy, ctest, phpize  # noqa: E402
from runs import phpt, provide, pytest, result, run, said, summary  # noqa: E402

nox.options.envdir = "out/nox"
nox.options.reuse_venv = "yes"
nox.options.default_venv_backend = "uv|virtualenv"
FREE = OUT / "machines" / "python3_13t"
PLACES = [f"{FREE}/bin", *Path("~/.pyenv/versions").expanduser().glob("3.*/bin")]
os.environ["PATH"] += "".join(f":{place}" for place in PLACES)
REPORTS = OUT / "reports"
SANITIZED = "-g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all"
THREADS = "-O1 -g -fno-omit-frame-pointer -fsanitize=thread"
WATCHED = {"BLOOMFILTER_SANITIZED": "1"}
PORTABLE = WATCHED | {"BLOOMFILTER_CPU": "portable"}  # docs/testing.md: what TSan cannot know
ALL_BUT_SPARK = ["tests/python", "--ignore=tests/python/frameworks/test_spark.py"]


def ends(session, *right):
    """Whoever asks nox by its exit code hears of a failure, too, also of one that only the results
    tell: a C program that ended early with 0.  What is skipped for want of a package is none."""
    if summary(CI="") or not all(right):
        session.error("a test failed")


def installed(session, extras="[test,peers]"):
    """The package as users get it, and the tools of the tests; words that run that Python."""
    provide("needs_c", "needs_redis", "needs_python")
    tools = "pytest pytest-xdist hypothesis numpy tqdm xxhash mypy redis greenlet pandas setuptools"
    session.install("--only-binary=:all:", *tools.split())
    session.install(f"{copy(WHEEL, STAGE / f'nox-{session.name}')}{extras}")
    return [Path(session.bin) / "python"]


def python_with(python, name, flags):
    """The extension with other flags: for PYTHONPATH, which is before what is installed."""
    folder = copy(WHEEL, STAGE / name)
    run(*python, "setup.py", "-q", "build_ext", "--inplace", cwd=folder, CFLAGS=flags)
    return f"{folder}/python-ext:tests/helpers"


def preload(*libraries):
    """Sanitizers come before all other libraries."""
    paths = [said("cc", f"-print-file-name={one}").strip() for one in libraries]
    if not all(os.sep in path for path in paths):
        raise Failed(f"cc has not all of {libraries}: sanitizers in an interpreter need gcc")
    return {"LD_PRELOAD": " ".join(paths)}


def to_files(asan="", tsan=""):
    """Where sanitizers report: tests read what the processes that they start print."""
    shutil.rmtree(REPORTS, ignore_errors=True)
    REPORTS.mkdir(parents=True)
    common = f"allocator_may_return_null=1:detect_leaks=1:log_path={REPORTS}/asan"
    return {
        "ASAN_OPTIONS": f"{common}:{asan}",
        "UBSAN_OPTIONS": f"print_stacktrace=1:log_path={REPORTS}/ubsan",
        "TSAN_OPTIONS": f"history_size=7:log_path={REPORTS}/tsan:{tsan}",
    }


def reports():
    return {one.name: one.read_text(errors="replace") for one in sorted(REPORTS.iterdir())}


def no_reports(name):
    """What any process has said is a failure, also that of a child whose end nobody looked at."""
    print(*reports().values(), sep="\n")
    return result(f"{name}-reports", reports() or {"no report": ""})


def sees(name, sign, *command, **env):
    """A command does what must be reported."""
    run(*command, check=False, **env)
    wrong = "" if any(sign in text for text in reports().values()) else "no report"
    shutil.rmtree(REPORTS)
    REPORTS.mkdir()
    return result(f"{name}-control", {f"the sanitizer sees: {sign}": wrong})


# ---- Python ----
@nox.session(python=["3.10", "3.11", "3.12", "3.13", "3.14", "3.15", "3.13t", "3.14t"])
def pythons(session):
    """tests/python/contract with each Python that is here; without a GIL, tests/python."""
    python, free = installed(session, ""), session.python.endswith("t")
    which = (
        ["tests/python", "--ignore=tests/python/frameworks"] if free else ["tests/python/contract"]
    )
    spread = ["-n", JOBS, "--dist", "loadfile", *session.posargs]
    ends(session, pytest(f"python-{session.python}", python, *which, *spread))


@nox.session(venv_backend="none")
def freethreaded(session):
    """Python 3.13 without the GIL, made here: pythons-3.13t; threads with TSan."""
    run("scripts/machines", "python3_13t", "python3_13t_tsan")
    right = run("nox", "-s", "pythons-3.13t", "--", *session.posargs, check=False) == 0
    own, tsan = OUT / "nox" / "pythons-3-13t", [f"{FREE}_tsan/bin/python3.13t"]
    path = python_with([own / "bin" / "python"], "python-3.13t-tsan", THREADS)
    path += f":{own}/lib/python3.13t/site-packages"  # what is not compiled is the same
    known = f"{FREE}/source/python3.13/source/*/Tools/tsan/suppressions_free_threading.txt"
    known = said("sh", "-c", f"ls {known}").strip()
    env = {"PYTHONPATH": path, **PORTABLE, **to_files(tsan=f"suppressions={known}")}
    race = (
        "import ctypes, threading as t; room = ctypes.create_string_buffer(64); b = t.Barrier(2)\n"
    )
    race += "def fill(): b.wait(); [ctypes.memset(room, 1, 64) for _ in range(30_000)]\n"
    race += "all = [t.Thread(target=fill) for _ in 'ab']; [one.start() for one in all]"
    seen = sees("freethreaded", "data race", *tsan, "-c", race, **env)
    which = "tests/python/interpreter/test_free_threading.py", "-p", "no:faulthandler"
    right = right and pytest("freethreaded-tsan", tsan, *which, **env)
    ends(session, right, seen, no_reports("freethreaded-tsan"))


@nox.session
def python_asan(session):
    """tests/python, the extension with ASan and UBSan."""
    python = installed(session)
    # greenlet copies parts of the stack: it reads the red zones between variables, and leaves them
    # to other frames.  Compiled parts of other packages throw through libstdc++.
    path = python_with(python, "python-asan", f"{SANITIZED} --param asan-stack=0")
    env = preload("libasan.so", "libubsan.so", "libstdc++.so.6") | WATCHED
    env |= {"PYTHONPATH": path, "PYTHONMALLOC": "malloc", "BLOOMFILTER_REPORTS": f"{REPORTS}/asan"}
    env |= to_files('leak_check_at_exit=0:stack_trace_format="#%n %m %f %S"')
    which = ["-p", "sanitized", "-p", "no:faulthandler", *(session.posargs or ALL_BUT_SPARK)]
    ends(session, pytest("python-asan", python, *which, **env), no_reports("python-asan"))


@nox.session
def python_debug(session):
    """tests/python with the debug allocator and -X dev."""
    env = {"PYTHONDEVMODE": "1", "PYTHONMALLOC": "debug"}
    which = session.posargs or ALL_BUT_SPARK
    ends(session, pytest("python-debug", installed(session), *which, **env))


# ---- PHP ----
@nox.session(venv_backend="none")
def php_asan(session):
    """tests/php, the extension with ASan and UBSan and without Zend's allocator."""
    provide("needs_c", "needs_php", "needs_redis", "needs_phpredis")
    folder, php = copy(EXTENSION, STAGE / "php-asan"), said("php-config", "--php-binary").strip()
    deepbind = folder / "no_deepbind.so"
    run(*"cc -Wall -Wextra -shared -fPIC tests/php/no_deepbind.c -o".split(), deepbind)
    phpize(folder, CFLAGS=f"-O1 {SANITIZED}")
    env = preload("libasan.so", "libubsan.so", "libstdc++.so.6") | WATCHED
    env |= {"LD_PRELOAD": f"{deepbind} {env['LD_PRELOAD']}", "USE_ZEND_ALLOC": "0"}
    # Its libraries stay loaded: a leak at the end of a PHP has names.
    env |= {"ZEND_DONT_UNLOAD_MODULES": "1", **to_files("verify_asan_link_order=0")}
    # Ten times because a stale register may still hold one of the addresses.
    leak = '$c = FFI::cdef("void *malloc(size_t);"); for ($i = 0; $i < 10; $i++) $c->malloc(4321);'
    seen = sees("php-asan", "leak of", php, "-n", "-d", "extension=ffi.so", "-r", leak, **env)
    built = folder / "modules" / "bloomfilter.so"
    right = phpt("php-asan", php, built, session.posargs, **env)
    ends(session, seen, right, no_reports("php-asan"))


@nox.session(venv_backend="none")
def php_valgrind(session):
    """Some of tests/php in valgrind."""
    provide("needs_c", "needs_php", "needs_redis", "needs_phpredis", packages="valgrind")
    run("scripts/build", "php", CFLAGS="-g -O2")
    some = """memory_is_given_back addMany key_text construct_once serialize
        toBytes sets counting storage_open storage_redis""".split()
    php, built = said("php-config", "--php-binary").strip(), STAGE / "php/modules/bloomfilter.so"
    ends(session, phpt("php-valgrind", php, built, session.posargs or some, ["-m"]))


# ---- C ----
def preset(session, name, *which, configure=None, label=None, **env):
    configure, which = configure or name, session.posargs or which
    provide("needs_c", "needs_redis")
    run("cmake", "--preset", configure)
    run("cmake", "--build", "--preset", configure, "-j", JOBS)
    return ctest(f"c-{label or name}", "--preset", name, *which, **env)


@nox.session(venv_backend="none")
def c_long(session):
    """tests/c with loops in full length; with portable kernels; with ASan and UBSan."""
    right = [preset(session, name) for name in ("dev", "portable")]
    ends(session, *right, preset(session, "asan-long", configure="asan"))


@nox.session(venv_backend="none")
def options(session):
    """tests/c in builds without one optional library; scripts/test has the one without any."""
    right = []
    libraries = {"SODIUM", "TLS", "SERVER"}
    for without in sorted(libraries):
        folder, name = STAGE / f"without-{without}", f"c-bare-{without}"
        others = [f"-DBLOOMFILTER_{one}=ON" for one in libraries - {without}]
        run("cmake", "--preset", "bare", "-B", folder, *others)
        run("cmake", "--build", folder, "-j", JOBS, "--target", "optional_tests")
        right.append(ctest(name, "--test-dir", folder, "-L", "optional", BLOOMFILTER_SLOW="1"))
    ends(session, *right)


@nox.session(venv_backend="none")
def valgrind(session):
    """tests/c in valgrind: uninitialized memory."""
    provide(packages="valgrind")
    ends(session, preset(session, "valgrind"))


@nox.session(venv_backend="none")
def tsan(session):
    """C programs that start threads, with TSan."""
    ends(session, preset(session, "tsan"))


@nox.session
def python_tsan(session):
    """bloomfilterd, and threads that share filters of the Python extension, with TSan."""
    provide("needs_server", "needs_server_tests")
    python = installed(session)
    run("scripts/build", "c")
    run("cmake", "--preset", "tsan")
    run("cmake", "--build", "--preset", "tsan", "-j", JOBS, "--target", "bloomfilterd")
    daemon = PORTABLE | {"BLOOMFILTERD": f"{STAGE}/tsan/bloomfilterd"}
    right = pytest("server-tsan", python, "tests/server", **daemon)
    env = PORTABLE | to_files() | {"PYTHONPATH": python_with(python, "python-tsan", THREADS)}
    env |= preload("libtsan.so", "libstdc++.so.6")
    which = "tests/python/interpreter/test_free_threading.py", "-p", "no:faulthandler"
    right &= pytest("python-tsan", python, *which, **env)
    ends(session, right, no_reports("python-tsan"))


@nox.session
def kill(session):
    """A thousand kill -9 of writers for each kind of filter; a minute of rebuilds."""
    right = preset(session, "dev", "-R", "^test_killed$", label="kills", BF_KILLS="1000")
    stress = "^test_rebuild_stress$"
    right &= preset(session, "dev", "-R", stress, label="rebuilds", BF_STRESS_SECONDS="60")
    ends(session, right)
