"""Every batch gives signals and other threads their turn, whatever its keys are and wherever they
come from."""

import array
import collections
import functools
import itertools
import signal
import sys

import arrow_producer
import numpy as np
import pytest
from servers import until
from turns import Ticker
from arrow_producer import Column, text

from bloomfilter import CountingBloomFilter

MANY = 4_000_000  # of these a batch takes 0.1 s and more
ENDLESS = min(10**12, sys.maxsize // 8)


class Stop(Exception):
    """Raised by the third signal that was handled inside the batch."""


@pytest.fixture
def interrupted():
    """Runs a call with a signal every ms: did the third end it?  A batch that lets none in has one
    of them handled at most: when it is over."""
    seen, armed = 0, False

    def handle(number, frame):
        nonlocal seen, armed
        if (
            frame.f_code.co_filename == arrow_producer.__file__
        ):  # called by C code, which no exception leaves
            return
        seen += 1
        if seen >= 3 and armed:
            armed = False
            raise Stop

    def run(call):
        nonlocal armed
        try:
            armed = True
            signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
            call()
            armed = False
        except Stop:
            return True
        return False

    old = signal.signal(signal.SIGALRM, handle)
    yield run
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, old)


class Text(str):
    pass


class Number:
    def __index__(self):
        return 77


KEYS = {
    "ASCII": "https://example.org/x",
    "Latin-1": "https://example.org/é/üñ",
    "UCS2": "https://例え.jp/страница/é.html",
    "UCS4": "https://example.org/🐘/x",
    "long UCS2": "例え" * 3000,
    "a text of a subclass": Text("https://例え.jp/страница"),
    "bytes": b"https://example.org/x",
    "long bytes": b"x" * 100_000,
    "bytearray": bytearray(b"https://example.org/x"),
    "memoryview": memoryview(b"https://example.org/x"),
    "int": 1234567,
    "big int": 10**30,
    "__index__": Number(),
}
SLOW = {"long UCS2", "long bytes"}  # a few are enough


@pytest.mark.parametrize("call", ["update", "contains_many"])
@pytest.mark.parametrize("container", [list, tuple, iter], ids=lambda c: c.__name__)
@pytest.mark.parametrize("kind", KEYS)
def test_of_every_kind_of_key(bf, interrupted, kind, container, call):
    count = MANY // 100 if kind in SLOW else MANY
    keys = (
        [KEYS[kind]] * count
        if container is list
        else (KEYS[kind],) * count
        if container is tuple
        else itertools.repeat(KEYS[kind], count)
    )
    assert interrupted(lambda: getattr(bf, call)(keys))
    assert (KEYS[kind] in bf) is (call == "update")  # the keys before the signal are added
    bf.close()


DISTINCT = 400_000
CONTAINERS = {
    "generator": lambda: ("é" for _ in itertools.count()),
    "map": lambda: map("é%d".__mod__, range(MANY)),
    "deque": lambda: collections.deque(itertools.repeat("é", MANY)),
    "set": lambda: {f"é{i}" for i in range(DISTINCT)},
    "dict": lambda: dict.fromkeys(f"é{i}" for i in range(DISTINCT)),
    "numpy S": lambda: np.broadcast_to(np.array([b"again"]), (1, ENDLESS))[0],
    "numpy U": lambda: np.broadcast_to(np.array(["日本"]), (1, ENDLESS))[0],
    "numpy int": lambda: np.broadcast_to(np.int64(5), (ENDLESS,)),
    "numpy object": lambda: np.array(["é"] * MANY, dtype=object),
    "array": lambda: array.array("q", [5]) * (10 * MANY),
}


@pytest.mark.parametrize("kind", CONTAINERS)
def test_of_every_container(bf, interrupted, kind):
    keys = CONTAINERS[kind]()
    assert interrupted(lambda: bf.update(keys))
    bf.close()


ARROW = {
    "fixed": lambda: Column(b"w:0", ENDLESS, [None, b""]),
    "int": lambda: Column(b"c", 10 * MANY, [None, bytes(10 * MANY)]),
    "text": lambda: Column(b"u", 5 * MANY, [None, bytes(4 * (5 * MANY + 1)), b""]),
    "dictionary": lambda: Column(
        b"c", 10 * MANY, [None, bytes(10 * MANY)], dictionary=text([b"a key"])
    ),
}


@pytest.mark.parametrize("kind", ARROW)
def test_of_arrow_columns(bf, interrupted, kind):
    column = ARROW[kind]()
    assert interrupted(lambda: bf.update(column))
    bf.close()


def test_of_lines(bf, interrupted):
    lines = "日本語\n".encode() * (8 * MANY)
    assert interrupted(lambda: bf.update_lines(lines))
    bf.close()


def test_of_counters(interrupted):
    bf = CountingBloomFilter(n=10_000, p=0.001)
    assert interrupted(lambda: bf.count_many(["é"] * MANY))
    bf.close()


BATCHES = {
    "ASCII": lambda: [KEYS["ASCII"]] * MANY,
    "UCS2": lambda: [KEYS["UCS2"]] * MANY,
    "big int": lambda: [KEYS["big int"]] * (MANY // 10),
    "__index__": lambda: [KEYS["__index__"]] * (MANY // 10),
    "generator": lambda: map(str, range(MANY // 4)),
    "numpy S": lambda: np.arange(MANY // 4).astype("S8"),
    "numpy int": lambda: np.arange(MANY // 4),
}


@pytest.mark.parametrize("kind", BATCHES)
def test_other_threads_run(bf, kind):
    keys = BATCHES[kind]()
    with Ticker() as other:
        until(
            lambda: other.during(functools.partial(bf.update, keys)) >= 3, "three turns in one call"
        )


def test_a_large_key_lets_other_threads_run(bf):
    key, interval = bytes(1 << 28), sys.getswitchinterval()
    sys.setswitchinterval(100)  # the GIL is taken from nobody: it is let go
    try:
        with Ticker() as other:
            for call in (
                functools.partial(bf.add, key),
                functools.partial(bf.__contains__, key),
                functools.partial(bf.update, [key]),
                functools.partial(bf.contains_many, {key}),
                functools.partial(bf.hashcode, key),
            ):
                until(lambda: other.during(call) > 0, "a turn")
    finally:
        sys.setswitchinterval(interval)
