"""threads=N: the bits and the answers of one thread, for each kind of column; nulls and errors; signals
and forks during and after such a call.  Each kind of filter: tests/c/test_threads.c."""

import os
import signal
import threading
import zlib

import numpy as np
import pyarrow as pa
import pytest
from arrow_producer import Column
from bloomfilter import BloomFilter, CountingBloomFilter
from cli_helpers import fails, ok
from columns import COLUMNS

ROWS = 30_000
WORDS = [f"https://example.org/{i * 7919 % 20_011}" for i in range(ROWS)]
NUMBERS = np.arange(ROWS) * 7919 % 20_011
TEXTS = pa.array(WORDS)
SLICED = "list Arrow numpy pandas polars".split()  # those that same() can cut
KINDS = [kind for kind in COLUMNS if kind.split()[0] in SLICED]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def same(one, many, column, threads):
    """The same calls by one thread and by several."""
    assert one.update(column[: len(column) // 3]) == many.update(
        column[: len(column) // 3], threads=threads
    )
    for call in "add_many", "contains_many":
        assert getattr(one, call)(column) == getattr(many, call)(column, threads=threads), call
    for call in "add_mask", "contains_mask":
        want, got = (
            getattr(one, call)(column[::-1] if isinstance(column, np.ndarray) else column),
            getattr(many, call)(
                column[::-1] if isinstance(column, np.ndarray) else column, threads=threads
            ),
        )
        assert (want == got).all(), call
    assert one == many


@pytest.mark.parametrize("name", KINDS)
def test_every_column(name):
    column = COLUMNS[name](WORDS)
    for threads in 0, 2, 1000:
        same(*(BloomFilter(n=30_000, p=0.01) for _ in "12"), column, threads)


def test_counters():
    one, many = (CountingBloomFilter(n=30_000, p=0.01) for _ in "12")
    same(one, many, NUMBERS, 2)
    assert one.count_many(NUMBERS) == many.count_many(NUMBERS, threads=2)
    assert one.remove_many(NUMBERS) == many.remove_many(NUMBERS, threads=2)
    assert one == many


def test_hashes():
    hashes = np.random.default_rng(1).integers(0, 2**64, 300_000, np.uint64)
    hashes[1::3] = hashes[::3]
    for column in hashes, hashes[::-1], hashes[::2].astype(">u8"), pa.array(hashes):
        one, many = (BloomFilter(n=300_000, p=0.01, scheme="hashes64") for _ in "12")
        assert one.add_hashes(column[:50_000]) == many.add_hashes(column[:50_000], threads=2)
        assert (one.add_hashes_mask(column) == many.add_hashes_mask(column, threads=2)).all()
        assert one.contains_hashes(column) == many.contains_hashes(column, threads=3)
        assert (one.contains_hashes_mask(column) == many.contains_hashes_mask(column)).all()
        assert one == many


def test_nulls():
    words = [None if i % 11 == 5 else word for i, word in enumerate(WORDS)]
    for column in pa.array(words), pa.array(words).dictionary_encode(), pa.nulls(ROWS, pa.string()):
        one, many = (BloomFilter(n=30_000, p=0.01) for _ in "12")
        for call in "add_many", "contains_many":
            want = getattr(one, call)(column, nulls="skip")
            assert want == getattr(many, call)(column, nulls="skip", threads=2)
        assert one == many
        with pytest.raises(TypeError) as error:
            many.update(column, threads=2)
        assert error.value.index == (0 if column.null_count == ROWS else 5)


def test_the_index_of_a_refused_key():
    """scheme="guava:chars" takes text only."""
    words = [word.encode() for word in WORDS]
    words[17_001] = b"\xff"
    bf = BloomFilter(m=1 << 20, k=5, scheme="guava:chars")
    with pytest.raises(ValueError) as error:
        bf.update(pa.array(words), threads=2)
    assert error.value.index == 17_001
    assert bf.contains_many(WORDS[:17_001], threads=2) == b"\1" * 17_001


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("damaged", [3000, 140_000])
def test_keys_before_a_damaged_one_are_added_once(damaged, threads):
    keys = [b"%012d" % i for i in range(150_000)]
    one, many = (CountingBloomFilter(n=150_000, p=0.01) for _ in "12")
    items = b"".join(b"\f\0\0\0" + key for key in keys)  # views of 12 bytes
    items = items.replace(b"\f\0\0\0" + keys[damaged], b"\xff" * 16)
    column = Column(b"vz", len(keys), [None, items, b""])
    for call in many.update, many.contains_many:
        with pytest.raises(ValueError, match="damaged") as error:
            call(column, threads=threads)
        assert error.value.index == damaged
    one.update(keys[:damaged])
    assert one == many


def test_keys_before_a_callback_that_raises_are_added_once():
    def digest(key):
        if key == b"2500":
            raise KeyError(key)
        return zlib.crc32(key) * 0x9E3779B97F4A7C15 % 2**64

    def clock():
        if raises:
            raise KeyError(clock)
        return 1e9

    bf = CountingBloomFilter(m=1 << 20, hashes=[digest])
    with pytest.raises(KeyError):
        bf.update(np.arange(4000), threads=2)
    assert bf.count_many(np.arange(2500)) == b"\1" * 2500
    raises = False
    window = BloomFilter(n=10_000, p=0.01, window=60, clock=clock)
    raises = True
    with pytest.raises(KeyError):
        window.update(np.arange(4000), threads=2)


class NoTruth:
    def __bool__(self):
        raise KeyError


@pytest.mark.parametrize(
    "wrong",
    [-1, 2**31, 2**70, 1.5, "2", None, True],
    ids=["-1", "2^31", "2^70", "1.5", "text", "None", "bool"],
)
def test_a_wrong_number(wrong):
    bf = BloomFilter(n=100, p=0.01)
    expected = ValueError if type(wrong) is int else TypeError
    for call in "update", "add_many", "contains_many", "add_mask", "contains_mask":
        with pytest.raises(expected):
            getattr(bf, call)(["key"], threads=wrong)
    for call in "update_lines", "contains_lines":
        with pytest.raises(expected):
            getattr(bf, call)(b"key", last=True, keep=NoTruth(), threads=wrong)
    assert "key" not in bf


def test_other_threads_and_children():
    """Other threads use the filter meanwhile; a child may use it."""
    bf = BloomFilter(n=400_000, p=0.01)
    column = pa.array([str(i) for i in range(400_000)])
    workers = [
        threading.Thread(target=bf.update, args=(column,), kwargs={"threads": 2}) for _ in "123"
    ]
    for worker in workers:
        worker.start()
    while any(worker.is_alive() for worker in workers):
        bf.add("one more")
    for worker in workers:
        worker.join()
    assert bf.contains_many(column, threads=2) == b"\1" * 400_000
    child = os.fork()
    if child == 0:
        os._exit(0 if all(bf.contains_many(column, threads=2)) else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_a_signal_ends_the_call():
    """Each pass adds the column again, until the signal has come."""
    bf, passes = BloomFilter(n=4_000_000, p=0.01, scheme="hashes64"), 0
    hashes = np.random.default_rng(2).integers(0, 2**64, 4_000_000, np.uint64)
    timer = threading.Timer(0.01, signal.raise_signal, [signal.SIGINT])
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        while True:
            bf.add_hashes(hashes, threads=2)
            passes += 1
    timer.join()
    assert bf.add_hashes(hashes, threads=2) >= 0


def test_a_signal_ends_a_call_with_a_large_k():
    """One call of the core for all keys, each of 4096 positions, would end after the last one."""
    bf, keys = BloomFilter(m=1 << 28, k=4096, scheme="classic"), np.arange(20_000)
    timer = threading.Timer(0.01, signal.raise_signal, [signal.SIGINT])
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        bf.update(keys, threads=2)
    timer.join()
    assert keys[-1] not in bf


def test_lines():
    data = "".join(f"{word}\n" for word in WORDS * 7).encode()
    one, many = (BloomFilter(n=30_000, p=0.01) for _ in "12")
    for keep in None, True, False:
        for call in "update_lines", "contains_lines":
            for some in data[: len(data) // (2 + len(call))], data:
                got = getattr(many, call)(some, keep=keep, threads=2)
                assert got == getattr(one, call)(some, keep=keep)
    assert one == many


def test_the_command(tmp_path):
    (tmp_path / "keys").write_bytes(b"".join(b"%s\n" % word.encode() for word in WORDS * 20))
    printed = []
    for threads in "1", "2", "0":
        seen = f"{threads}.bloom"
        ok("add", seen, "keys", "-n", "30k", "-p", "1%", "--threads", threads)
        done = ok("check", seen, "keys", "--print", "present", "--threads", threads)
        printed.append(done.out)
        assert BloomFilter.load("1.bloom") == BloomFilter.load(seen)
    assert printed[0] == printed[1] == printed[2] and printed[0]
    for wrong in "-1", "1e10":
        assert fails("check", "1.bloom", "keys", "--threads", wrong)
        assert fails("add", "none.bloom", "keys", "-n", "9", "-p", "1%", "--threads", wrong)
    assert not (tmp_path / "none.bloom").exists()
