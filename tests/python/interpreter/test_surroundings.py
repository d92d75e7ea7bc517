"""What the process around the module may be like: clocks that misbehave, another working directory,
small stacks, no descriptors.

tests/c/test_environment.c has what is the core's alone.
"""

import os
import pickle
import subprocess
import sys

import pytest

from bloomfilter import BloomFilter, CountingBloomFilter, Error


# ---- clocks ----


# ---- the working directory ----
def test_a_relative_path_is_pickled_as_what_it_is(tmp_path, monkeypatch):
    here, elsewhere = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    elsewhere.mkdir()
    for cls, more in (
        (BloomFilter, {}),
        (BloomFilter, {"grow": 2.0}),
        (BloomFilter, {"window": 1e6}),
        (CountingBloomFilter, {}),
    ):
        monkeypatch.chdir(here)
        with cls(n=100, p=0.01, storage="seen.bloom", **more) as bf:
            bf.add("a")
            data = pickle.dumps(bf)
            monkeypatch.chdir(elsewhere)
            with (
                cls(n=100, p=0.01, storage="seen.bloom", **more) as other,
                pickle.loads(data) as again,
            ):
                again.add("b")
                assert "b" in bf and "b" not in other
            with pytest.raises(
                Error,
                match=r"'seen.bloom' is a relative path, which is not this filter's in the present working directory",
            ):
                pickle.dumps(bf)
        os.unlink(here / "seen.bloom")
        os.unlink(elsewhere / "seen.bloom")


# ---- small stacks: what threads have by default where the C library is musl ----
sanitized = pytest.mark.skipif(
    "BLOOMFILTER_SANITIZED" in os.environ, reason="the sanitizer needs more for itself"
)


@sanitized
def test_a_small_stack(run_python):
    assert (
        run_python("""
import threading
from bloomfilter import BloomFilter, CountingBloomFilter
said = []
def use():
    for more in (dict(n=1000, p=.01), dict(n=1000, p=1e-4), dict(m=100000, n=1000), dict(n=1000, p=.01, grow=2.0), dict(n=1000, p=.01, window=100.0),
                 dict(m=100000, k=5, scheme="guava")):
        with BloomFilter(**more) as bf:
            bf.update(str(i) for i in range(2000))
            said.append("5" in bf and any(bf.contains_many(["1"] * 100)) and len(bf.copy()) > 0 and "5" in BloomFilter.from_bytes(bf.to_bytes()))
    with CountingBloomFilter(n=1000, p=.01) as bf:
        bf.update(str(i) for i in range(1000))
        said.append(bf.remove("5") and bf.count_of("6") >= 1)
threading.stack_size(128 << 10)
thread = threading.Thread(target=use)
thread.start()
thread.join()
print(said)
""")
        == "[True, True, True, True, True, True, True]"
    )


# ---- limits and descriptors ----
def test_a_limit_on_file_sizes(tmp_path, run_python):
    said = run_python(f"""
import os, resource, signal
from bloomfilter import BloomFilter
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)              # as in a host that is no Python
resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
for what in (lambda: BloomFilter(n=1_000_000, p=0.01, storage={str(tmp_path / "seen.bloom")!r}),
             lambda: BloomFilter(n=1_000_000, p=0.01).save({str(tmp_path / "saved.bloom")!r})):
    try: what()
    except OSError as e: print(e.errno == 27, "File too large" in str(e))
print(os.listdir({str(tmp_path)!r}))
""")
    assert said == "True True\nTrue True\n[]"


def test_without_standard_descriptors(tmp_path):
    path = tmp_path / "seen.bloom"
    code = f"""
import os, sys
from bloomfilter import BloomFilter
bf = BloomFilter(n=1000, p=0.01, storage={str(path)!r})
for fd in range(3):
    try: os.write(fd, b"printed" * 1000)
    except OSError: pass
bf.add("a")
sys.exit(0 if "a" in bf else 1)
"""
    assert (
        subprocess.run(
            ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", sys.executable, "-c", code],
            timeout=60,
            check=False,
        ).returncode
        == 0
    )
    with BloomFilter.open(path) as bf:
        assert "a" in bf and "b" not in bf
    assert b"printed" not in path.read_bytes()


@sanitized
def test_no_address_space(run_python):
    """A limit on memory is MemoryError, and what was there goes on."""
    said = run_python("""
import resource
from bloomfilter import BloomFilter
bf = BloomFilter(n=1000, p=0.01)
bf.add("a")
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20),) * 2)
for what in (lambda: BloomFilter(m=1 << 33, k=3), lambda: BloomFilter(m=1 << 40, k=3)):
    try: what()
    except MemoryError as e: print("MemoryError", bool(str(e)))
print("a" in bf, bf.add("b"))
""")
    assert said == "MemoryError True\nMemoryError True\nTrue True"
