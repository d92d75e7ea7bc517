"""Other threads, signals, forks: who gets a turn, what close() does under a batch, that no key is
lost."""

import itertools
import signal
import sys
import threading
import time

import numpy as np
import pytest
from threads import in_threads

from bloomfilter import BloomFilter, Error


class Stop(Exception):
    """Raised by a signal handler: how a batch without end is ended."""


@pytest.fixture
def stop_signal():
    def stop(number, frame):
        raise Stop

    old = signal.signal(signal.SIGUSR1, stop)
    yield signal.SIGUSR1
    signal.signal(signal.SIGUSR1, old)


MANY = min(10**12, sys.maxsize // 8)  # as many as numpy can count here
# Batches that only a signal ends; what they have added before shows.
ENDLESS = {
    "iterator": lambda: itertools.chain(
        map(str, range(1000)), itertools.cycle(["again", "and again"])
    ),
    "text array": lambda: np.broadcast_to(np.array([b"again"]), (1, MANY))[0],
    "number array": lambda: np.broadcast_to(np.int64(5), (MANY,)),
}
FIRST = {"iterator": "999", "text array": "again", "number array": "5"}


def update_until(bf, kind, act):
    """Begins an endless batch; act() runs in another thread when the first keys are added."""

    def watch():
        while FIRST[kind] not in bf:
            time.sleep(0.001)
        act()

    thread = threading.Thread(target=watch)
    thread.start()
    with pytest.raises(Stop):
        bf.update(ENDLESS[kind]())
    thread.join()


@pytest.mark.parametrize("kind", ENDLESS)
def test_a_signal_ends_a_batch_and_the_keys_before_it_are_added(bf, stop_signal, kind):
    update_until(bf, kind, lambda: signal.pthread_kill(threading.main_thread().ident, stop_signal))
    assert FIRST[kind] in bf
    bf.close()


def test_close_inside_a_batch_of_the_same_thread(tmp_path):
    """The batch goes on, and the filter is closed when it ends."""

    def keys():
        yield "a"
        with pytest.raises(Error, match="batch"):
            bf.__init__(100, 1)
        bf.close()
        with pytest.raises(ValueError, match="closed"):
            bf.add("c")
        with pytest.raises(Error, match="batch"):
            bf.__init__(100, 1)
        with pytest.raises(Error, match="exclusive writer"):
            BloomFilter(storage=path, exclusive=True)
        yield "b"

    path = tmp_path / "f.bloom"
    bf = BloomFilter(n=1000, p=0.01, storage=path, exclusive=True)
    assert bf.update(keys()) == 2
    with pytest.raises(ValueError, match="closed"):
        bf.add("c")
    with BloomFilter(storage=path, exclusive=True) as again:
        assert again.contains_many(["a", "b", "c"]) == b"\1\1\0"
    bf.__init__(n=100, p=0.01)
    assert bf.add("c") and len(bf) == 1


@pytest.mark.parametrize("kind", ENDLESS)
def test_close_inside_a_batch_of_another_thread(bf, stop_signal, kind):
    def close():
        try:
            bf.close()
        finally:
            signal.pthread_kill(threading.main_thread().ident, stop_signal)

    update_until(bf, kind, close)
    with pytest.raises(ValueError, match="closed"):
        bf.add("a")


def test_a_list_that_another_thread_changes():
    bf = BloomFilter(n=100_000, p=0.01)
    keys = [f"key {i}" for i in range(20_000)]
    done = False

    def change():
        while not done:
            del keys[10_000:]
            keys.extend(f"new {i}" for i in range(10_000))

    def update():
        nonlocal done
        try:
            for _ in range(300):
                bf.update(keys)
        finally:
            done = True

    in_threads(change, update)
    assert bf.contains_many(f"key {i}" for i in range(10_000)) == b"\1" * 10_000
