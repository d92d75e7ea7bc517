"""No leak: references and memory after many good and bad calls."""

import gc
import resource
import sys
import warnings

import every_call
import pytest

from bloomfilter import BloomFilter


def every_call_once():
    for rows in every_call.CASES.values():
        for make, call in rows:
            if make.__name__ != "given":  # whose producer keeps all that it made
                every_call.tried(call, make())


def references():
    shared = (None, 5)  # what the interpreter itself refers to
    keys = [*every_call.MANY, *every_call.BAD]
    return [sys.getrefcount(key) for key in keys if not any(key is one for one in shared)]


def test_no_reference_is_kept(quick_folder):
    """What is lost in every round shows in every growth."""
    rounds, growths = 20, []
    every_call.set_folder(quick_folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(10):
            every_call_once()
        gc.collect()
        counts = references()
        for _ in range(3):
            blocks = sys.getallocatedblocks()
            for _ in range(rounds):
                every_call_once()
            gc.collect()
            growths.append(sys.getallocatedblocks() - blocks)
    assert references() == counts
    assert min(growths) < rounds


def test_memory_is_given_back():
    for _ in range(5):
        BloomFilter(m=80_000_000, k=3).update(range(1000))
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
        every_call.tried(run, [*long, None])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000
