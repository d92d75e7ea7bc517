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
import copy, ctypes, os, sys, warnings
sys.path.insert(0, sys.argv[1])
import numpy as np
import arrow_producer
from arrow_producer import Column, text
release_schema, release_array = arrow_producer.ReleaseSchema, arrow_producer.ReleaseArray
import bloomfilter
from bloomfilter import BloomFilter, CountingBloomFilter

folder = sys.argv[2]
# A release callback in C: one in Python would need memory.  It leaves the struct as it is.
nothing = ctypes.CDLL(os.environ["LD_PRELOAD"]).failing_malloc_nothing
arrow_producer.ReleaseSchema = lambda _: ctypes.cast(nothing, release_schema)
arrow_producer.ReleaseArray = lambda _: ctypes.cast(nothing, release_array)
left = ctypes.c_long.in_dll(ctypes.CDLL(os.environ["LD_PRELOAD"]), "failing_malloc_left")
MANY = ["a", "é" * 300, b"x", bytearray(b"y"), 5, 10**30, np.int8(3), "日" * 3000] * 3
NULLS = np.array(["a", None, "b"] * 30, object)

def filled(kind=BloomFilter, **more):
    bf = kind(n=100, p=0.01, **more)
    bf.update(range(50))
    return bf

HASHES = np.arange(9, dtype=np.uint64)
def of_hashes():
    bf = BloomFilter(n=100, p=0.01, scheme="hashes64")
    bf.add_hashes(HASHES[:5])
    return bf

class Sub(BloomFilter):
    __slots__ = ("more",)

def sub():
    bf = filled(Sub)
    bf.more = 1
    return bf

class Given(BloomFilter):  # with a column that was made before memory runs out
    pass

class Capsules:
    def __init__(self, pair):
        self.pair = pair
    def __arrow_c_array__(self):
        return self.pair

def with_column(column):
    column.count_release = None
    def make():
        bf = filled(Given)
        bf.given = Capsules(column.__arrow_c_array__())
        return bf
    return make

dictionary = Column(b"i", 2, [b"\1", b"\0" * 8], dictionary=text([b"a"]), nulls=1)

def hash_of(key):
    return len(key)

# Made before memory runs out: CPython 3.13 crashes where it has none for a new function.
def five():
    return 5.0

number = [0]
def fresh():
    number[0] += 1
    return f"{folder}/{number[0]}"

def stored():
    return filled(storage=fresh())

def refused(run):
    # raises where memory suffices, too
    run.refused = True
    return run

data, other, path = filled().to_bytes(), filled(), f"{folder}/saved"
in_base64, in_json = filled().to_base64(), filled().to_json()
other.save(path)
# name of the member -> [(maker, call)]
CASES = {
    "add": [(filled, lambda bf: [bf.add(key) for key in MANY])],
    "addKey": [(filled, lambda bf: bf.addKey("é"))],
    "existKey": [(filled, lambda bf: bf.existKey(10**30))],
    "__contains__": [(filled, lambda bf: bytearray(b"x") in bf)],
    "hashcode": [(filled, lambda bf: bf.hashcode("é"))],
    "update": [
        (filled, lambda bf: bf.update(MANY)),
        (filled, lambda bf: bf.update(iter(MANY))),
        (filled, lambda bf: bf.update(np.array(["a", "é"]))),
        (filled, lambda bf: bf.update(NULLS, nulls="skip")),
        (filled, refused(lambda bf: bf.update(NULLS))),
        (filled, refused(lambda bf: bf.update([None]))),
        (filled, refused(lambda bf: bf.update(["\ud800"]))),
        (filled, lambda bf: bf.update(other)),
    ],
    "add_many": [
        (filled, lambda bf: bf.add_many(MANY)),
        (with_column(text([b"a", b"b"])), lambda bf: bf.add_many(bf.given)),
        (with_column(Column(b"f", 1, [None, b"\0" * 4])), refused(lambda bf: bf.add_many(bf.given))),
        (with_column(dictionary), lambda bf: bf.add_many(bf.given, nulls="skip")),
    ],
    "add_mask": [(filled, lambda bf: bf.add_mask(MANY))],
    "contains_mask": [(filled, lambda bf: bf.contains_mask(MANY))],
    "add_hashes": [(of_hashes, lambda bf: bf.add_hashes(HASHES[::-1]))],
    "add_hashes_mask": [(of_hashes, lambda bf: bf.add_hashes_mask(HASHES))],
    "contains_hashes": [
        (of_hashes, lambda bf: bf.contains_hashes(HASHES)),
        (of_hashes, refused(lambda bf: bf.contains_hashes(MANY))),
    ],
    "contains_hashes_mask": [(of_hashes, lambda bf: bf.contains_hashes_mask(HASHES))],
    "contains_many": [(filled, lambda bf: bf.contains_many(iter(MANY)))],
    "update_lines": [(filled, lambda bf: bf.update_lines(b"a\nb\n", keep=True))],
    "contains_lines": [(filled, lambda bf: bf.contains_lines(b"a\nb\n", keep=False))],
    "union": [(filled, lambda bf: bf.union(other))],
    "intersection": [(filled, lambda bf: bf.intersection(other))],
    "issubset": [(filled, lambda bf: bf.issubset(other))],
    "issuperset": [(filled, lambda bf: bf.issuperset(other))],
    "union_count": [(filled, lambda bf: bf.union_count(other))],
    "intersection_count": [(filled, lambda bf: bf.intersection_count(other))],
    "__or__": [(filled, lambda bf: bf | other), (filled, refused(lambda bf: bf | 5))],
    "__and__": [(filled, lambda bf: bf & other)],
    "__ior__": [(filled, lambda bf: bf.__ior__(other))],
    "__iand__": [(filled, lambda bf: bf.__iand__(other))],
    "__eq__": [(filled, lambda bf: bf == other)],
    "__len__": [(filled, len)],
    "__bool__": [(filled, bool)],
    "__repr__": [(filled, repr), (stored, repr),
        (lambda: filled(grow=2.0), repr), (lambda: filled(window=5.5), repr)],
    "__sizeof__": [(filled, sys.getsizeof)],
    "__init__": [
        (filled, lambda bf: bf.__init__(100, 10)),
        (filled, lambda bf: BloomFilter(n=5, p=0.1, secret=bytes(16))),
        (filled, lambda bf: BloomFilter(n=5, p=0.1, clock=five, window=3)),
        (filled, lambda bf: BloomFilter(m=100, hashes=[hash_of, hash_of])),
        (filled, lambda bf: BloomFilter(n=5, p=0.1, grow=2)),
        (filled, lambda bf: BloomFilter(n=5, p=0.1, storage=fresh())),
        (filled, refused(lambda bf: BloomFilter(n=0, p=0.1))),
        (filled, refused(lambda bf: BloomFilter(n="x"))),
    ],
    "info": [(filled, lambda bf: bf.info()), (stored, lambda bf: bf.info())],
    "part_info": [(lambda: filled(grow=2.0), lambda bf: bf.part_info()),
        (lambda: filled(window=50), lambda bf: bf.part_info())],
    "copy": [(filled, lambda bf: bf.copy()), (sub, lambda bf: bf.copy())],
    "__copy__": [(filled, copy.copy)],
    "__deepcopy__": [(sub, copy.deepcopy)],
    "clear": [(filled, lambda bf: bf.clear()), (stored, lambda bf: bf.clear())],
    "to_bytes": [(filled, lambda bf: bf.to_bytes()), (filled, lambda bf: bf.to_bytes(format="bits"))],
    "from_bytes": [(filled, lambda bf: BloomFilter.from_bytes(data)),
        (filled, refused(lambda bf: BloomFilter.from_bytes(data[:-1])))],
    "save": [(filled, lambda bf: bf.save(fresh()))],
    "to_base64": [(filled, lambda bf: bf.to_base64())],
    "from_base64": [(filled, lambda bf: BloomFilter.from_base64(in_base64))],
    "to_json": [(filled, lambda bf: bf.to_json())],
    "from_json": [(filled, lambda bf: BloomFilter.from_json(in_json))],
    "to_redisbloom": [(filled, refused(lambda bf: bf.to_redisbloom("a path")))],
    "from_redisbloom": [(filled, refused(lambda bf: BloomFilter.from_redisbloom("a path")))],
    "_save_new": [(filled, lambda bf: bf._save_new(fresh()))],
    "load": [(filled, lambda bf: BloomFilter.load(path))],
    "open": [(filled, lambda bf: BloomFilter.open(path)),
        (filled, lambda bf: bloomfilter._bloomfilter._open(path))],
    "random_secret": [(filled, lambda bf: bf.random_secret())],
    "plan": [(filled, lambda bf: bf.plan(n=100, p=0.01))],
    "expire": [(filled, refused(lambda bf: bf.expire(5)))],
    "_expires_in": [(filled, lambda bf: bf._expires_in())],
    "delete": [(filled, refused(lambda bf: bf.delete()))],
    "rebuild": [(filled, lambda bf: bf.rebuild(MANY)), (stored, lambda bf: bf.rebuild(MANY))],
    "sync": [(stored, lambda bf: bf.sync())],
    "close": [(filled, lambda bf: bf.close()), (stored, lambda bf: bf.close())],
    "__enter__": [(filled, lambda bf: bf.__enter__())],
    "__exit__": [(filled, lambda bf: bf.__exit__())],
    "__reduce__": [(filled, lambda bf: bf.__reduce__()), (sub, lambda bf: bf.__reduce__()),
        (stored, lambda bf: bf.__reduce__()),
        (lambda: filled(secret=bytes(16)), refused(lambda bf: bf.__reduce__()))],
    **{name: [(filled, lambda bf, name=name: getattr(bf, name)),
              (stored, lambda bf, name=name: getattr(bf, name))] for name in (
        "m n k p grow window parts scheme storage created is_current shards bitset fill_ratio saturated fpr".split())},
    "remove": [(lambda: filled(CountingBloomFilter), lambda bf: bf.remove("é"))],
    "remove_many": [(lambda: filled(CountingBloomFilter), lambda bf: bf.remove_many(MANY))],
    "count_of": [(lambda: filled(CountingBloomFilter), lambda bf: bf.count_of("é"))],
    "count_many": [(lambda: filled(CountingBloomFilter), lambda bf: bf.count_many(MANY))],
    "to_plain": [(lambda: filled(CountingBloomFilter), lambda bf: bf.to_plain())],
    "a warning": [(lambda: filled(warn=True), lambda bf: (bf.update(range(1000)), bf.add("é")))],
}
FROM_OBJECT = {*dir(object), "__module__", "__weaklistoffset__"} - {"__init__", "__eq__", "__repr__", "__sizeof__", "__reduce__"}
SAME = {"__ne__", "__le__", "__lt__", "__ge__", "__gt__", "__ror__", "__rand__"}  # as __eq__, __or__
public = {name for kind in (BloomFilter, CountingBloomFilter) for name in dir(kind)}
left_out = public - FROM_OBJECT - SAME - CASES.keys()
assert not left_out, left_out

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
