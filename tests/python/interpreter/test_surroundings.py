"""What the process around the module may be like: clocks that misbehave, another working directory,
small stacks, no descriptors.

tests/c/test_environment.c has what is the core's alone.
"""

import os
import pickle

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
