"""No leak: references and memory after many good and bad calls."""

import gc
import pickle
import resource
import sys

import numpy as np
import pytest

from bloomfilter import BloomFilter


class Raises:
    def __index__(self):
        raise LookupError


def quiet(call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except (ValueError, TypeError, LookupError, OSError, MemoryError):
        pass


def every_call(keys, path):
    bf, other = BloomFilter(n=1000, p=0.01), BloomFilter(n=1000, p=0.01)
    for key in keys:
        for call in (bf.add, bf.existKey, bf.hashcode, bf.__contains__):
            quiet(call, key)
    for many in (
        keys,
        tuple(keys),
        iter(keys),
        [],
        5,
        "abc",
        np.arange(2000),
        np.arange(10).astype("S3"),
        np.zeros(3),
        [*keys, Raises()],
        range(3000),
    ):
        for call in (bf.update, bf.add_many, bf.contains_many):
            quiet(call, many)
    for value in (other, BloomFilter(10, 1), None):
        for call in (bf.union, bf.intersection, bf.__or__, bf.__iand__, bf.__eq__):
            quiet(call, value)
    for kwargs in (
        {"n": 0, "p": 0.1},
        {"n": 10**30, "p": 0.1},
        {"n": "x"},
        {"n": 10, "p": 0.1, "secret": bytes(3)},
        {"storage": path / "no" / "x"},
        {"m": 2**40, "k": 1},
    ):
        quiet(BloomFilter, **kwargs)
        quiet(BloomFilter.plan, **kwargs)
        quiet(BloomFilter.open, **kwargs)
    data = bf.to_bytes()
    for bad in (data[:-1], 5, data + b"x", b""):
        quiet(BloomFilter.from_bytes, bad)
    quiet(BloomFilter.from_bytes, data, n=5)
    quiet(BloomFilter.load, path / "nosuch")
    bf.save(path / "f")
    BloomFilter.load(path / "f")
    pickle.loads(pickle.dumps(bf))
    repr(bf), len(bf), bool(bf), bf.bitset, bf.fpr, bf.copy(), bf.plan(10, 1)
    bf.__init__(100, 1)
    with other:
        pass


KEYS = [
    "a",
    "é",
    "日" * 3000,
    b"x",
    bytearray(b"y"),
    memoryview(b"zzz")[::2],
    5,
    10**30,
    np.int8(3),
    None,
    1.5,
    "\ud800",
    np.zeros(2),
    object(),
    [],
    "🙂" * 200,
    Raises(),
]


def test_no_reference_is_kept(tmp_path):
    rounds, shared = 200, (None, 5)  # what the interpreter itself refers to
    for _ in range(50):
        every_call(KEYS, tmp_path)
    gc.collect()
    counts = [sys.getrefcount(key) for key in KEYS if not any(key is one for one in shared)]
    blocks = sys.getallocatedblocks()
    for _ in range(rounds):
        every_call(KEYS, tmp_path)
    gc.collect()
    assert [sys.getrefcount(key) for key in KEYS if not any(key is one for one in shared)] == counts
    assert sys.getallocatedblocks() - blocks < rounds


def test_memory_is_given_back(tmp_path):
    for _ in range(20):
        every_call(KEYS, tmp_path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(60):
        bf = BloomFilter(m=80_000_000, k=3)
        bf.update(range(1000))
        twin = BloomFilter.from_bytes(bf.to_bytes())
        assert twin == bf
        bf.close()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


@pytest.mark.parametrize("call", ["update", "add_many", "contains_many"])
def test_long_answers_and_long_keys_are_given_back(call):
    bf = BloomFilter(n=1000, p=0.01)
    run = getattr(bf, call)
    long = ["é" * 500_000, bytearray(1_000_000), "x" * 1_000_000]
    run(long)
    run(map(str, range(300_000)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(50):
        run(long)
        run(map(str, range(30_000)))
        quiet(run, [*long, None])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000
