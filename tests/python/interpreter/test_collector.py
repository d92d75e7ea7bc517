"""Code that runs where nobody expects any: finalizers, run by the collector in the middle of a
batch.

Up to Python 3.11 any new object may run the collector, an exception's own object too."""

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bloomfilter import BloomFilter

TESTS = Path(__file__).resolve().parents[1]


class Trap:
    """Garbage in a cycle: the next collection does that."""

    def __init__(self, what):
        self.me, self.what = self, what

    def __del__(self):
        self.what()


class Raises:
    def __index__(self):
        raise LookupError("of the key's own")


FAULTS = {
    "lone surrogate": "\ud800",
    "surrogate in a long text": "\ud800" + "é" * 20_000,
    "no key": 1.5,
    "__index__ raises": Raises(),
}
SIZES = {"short": (400, 40), "long": (20, 1 << 20)}
CHANGES = {
    "clear": lambda keys: keys.clear(),
    "replace": lambda keys: keys.__setitem__(slice(None), ["other"] * 3),
    "shrink": lambda keys: keys.__delitem__(slice(5, None)),
}


def trapped(keys, change, size, threshold, call):
    """Runs call with a trap set for its first, second ... collection; what it raised."""
    junk = []

    def spring():
        change(keys)
        junk.extend(b"\xee" * size for _ in range(800 if size < 1000 else 40))

    gc.collect(1)
    gc.disable()
    Trap(spring)
    old = gc.get_threshold()
    gc.set_threshold(threshold)
    gc.enable()
    try:
        call()
    except Exception as error:
        return error
    finally:
        gc.disable()
        gc.set_threshold(*old)
        gc.enable()
    return None


CASES = [(fault, size, "clear") for fault in FAULTS for size in SIZES] + [
    ("lone surrogate", "short", change) for change in CHANGES if change != "clear"
]


@pytest.mark.parametrize(("fault", "size", "change"), CASES)
def test_keys_before_a_bad_one_are_in_though_a_finalizer_empties_the_list(fault, size, change):
    count, length = SIZES[size]
    good = [(b"key %06d" % i).ljust(length, b".") for i in range(count)]
    for kind in (
        (lambda key: key, lambda key: key.decode() + "é") if size == "short" else (lambda key: key,)
    ):
        for threshold in range(1, 5):
            keys = [kind(bytes(bytearray(key))) for key in good] + [
                FAULTS[fault]
            ]  # the list alone has them
            bf = BloomFilter(n=100_000, p=0.0001)
            error = trapped(
                keys, CHANGES[change], length, threshold, lambda keys=keys, bf=bf: bf.update(keys)
            )
            if error is not None and str(error).startswith(f"key {count}: "):
                assert all(kind(key) in bf for key in good)


def test_answers_of_a_batch_during_which_a_finalizer_empties_the_list():
    def made():
        return [f"é{i}" for i in range(3000)] + [10**30, "é" * 30_000] * 20

    expected = BloomFilter(n=100_000, p=0.0001).add_many(made())
    for threshold in range(1, 12):
        keys, got = made(), []
        bf = BloomFilter(n=100_000, p=0.0001)
        assert (
            trapped(
                keys,
                CHANGES["clear"],
                40,
                threshold,
                lambda keys=keys, bf=bf, got=got: got.append(bf.add_many(keys)),
            )
            is None
        )
        assert got[0] == expected[: len(got[0])]


class Ticks(BloomFilter):
    """Its clock is a method of its own: a circle."""

    def __init__(self):
        self.ticks = 0
        super().__init__(n=1000, p=0.01, window=10, clock=self.tick)

    def tick(self):
        self.ticks += 1
        return float(self.ticks)


def test_a_filter_that_its_own_clock_holds_is_collected():
    def living():
        return sum(isinstance(each, Ticks) for each in gc.get_objects())

    gc.collect()
    before = living()
    for _ in range(10):
        seen = Ticks()
        assert seen.add("a") and "a" in seen
        seen.copy().add("b")
        del seen
    gc.collect()
    assert living() == before


def test_the_clock_of_a_filter_that_is_collected_is_asked_by_nobody():
    seen, told = Ticks(), []

    class Last:
        def __init__(self, bf):
            self.bf, bf.last = bf, self

        def __del__(self):
            told.append(self.bf.add("while it is collected"))

    Last(seen)
    del seen
    gc.collect()
    assert told == [True]


def test_the_tests_of_batches_with_a_collection_at_every_object():
    """BLOOMFILTER_GC=1 is for all tests; in these keys, exceptions and answers are made while others
    are read."""
    files = "contract/test_batches.py contract/test_keys.py columns/test_lines.py".split()
    chosen = " or ".join(
        "255 list_that_changes set_that_changes mixed_keys surrogates named_exception digits"
        " a_bad_key_is_named any_buffer long_keys".split()
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *[str(TESTS / name) for name in files], "-k", chosen],
        env={**os.environ, "BLOOMFILTER_GC": "1"}, capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
