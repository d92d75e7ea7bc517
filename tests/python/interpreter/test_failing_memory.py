"""Every allocation of every method fails once: the outcome is the method's result or a MemoryError,
and the filter can be used afterwards."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HELPERS = Path(__file__).resolve().parents[2] / "helpers"
SWEEP = r"""
import ctypes, os, sys, warnings
sys.path.insert(0, sys.argv[1])
import arrow_producer
# A release callback in C: one in Python would need memory.  It leaves the struct as it is.
nothing = ctypes.CDLL(os.environ["LD_PRELOAD"]).failing_malloc_nothing
for name in ("ReleaseSchema", "ReleaseArray"):
    of = getattr(arrow_producer, name)
    setattr(arrow_producer, name, lambda _, of=of: ctypes.cast(nothing, of))
arrow_producer.Column.count_release = None
import every_call
from every_call import CASES, HASHES
every_call.set_folder(sys.argv[2])
left = ctypes.c_long.in_dll(ctypes.CDLL(os.environ["LD_PRELOAD"]), "failing_malloc_left")

def sweep(name, make, call, first=1):
    most = 3000
    for n in range(first, first + most):
        bf, fault = make(), None
        left.value = n
        try:
            call(bf)
        except BaseException as error:
            fault = error
        spare, left.value = left.value, 0
        expected = (TypeError, ValueError) if hasattr(call, "refused") else ()
        if spare:
            assert fault is None or isinstance(fault, expected), (name, n, repr(fault))
            return
        if fault is not None and not isinstance(fault, (MemoryError, *expected)):
            print(f"{name}: allocation {n} fails: {fault!r}")
        if "hashes" in name:
            assert bf.contains_hashes(HASHES)[:5] == bytes([1] * 5), (name, n)
        elif name not in ("close", "__exit__"):
            bf.add("still usable")
            assert "still usable" in bf, (name, n)
    raise AssertionError(f"{name}: more than {most} allocations")

warnings.simplefilter("ignore")
for name in sys.argv[3:] or CASES:
    for make, call in CASES[name]:
        sweep(name, make, call, 1 << 30)  # what is made once is there
        sweep(name, make, call)
"""


@pytest.fixture(scope="module")
def failing_malloc(tmp_path_factory):
    if not shutil.which("cc"):
        pytest.skip("no C compiler here")
    library = tmp_path_factory.mktemp("failing") / "failing_malloc.so"
    source = HELPERS / "failing_malloc.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", library, source], check=True)
    return library


@pytest.mark.skipif("BLOOMFILTER_REPORTS" in os.environ, reason="a sanitizer has an allocator of its own")  # fmt: skip
def test_every_allocation_fails_once(failing_malloc, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", SWEEP, HELPERS, tmp_path],
        env={**os.environ, "LD_PRELOAD": str(failing_malloc), "PYTHONMALLOC": "malloc"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
