"""Keys in one buffer, each ended by a separator: the same as splitting it and adding one key at a
time."""

import array
import mmap
import threading

import pytest
from cli_helpers import redis_socket, redis_url  # noqa: F401
from hypothesis import given
from hypothesis import strategies as st

from bloomfilter import BloomFilter


def split(data, sep, last):
    """What a naive reader makes of it: keys and bytes consumed."""
    parts = data.split(sep)
    rest = parts.pop()
    if last and rest:
        return [*parts, rest], len(data)
    return parts, len(data) - len(rest)


def naive(bf, keys, add, keep, sep):
    answers = [bf.add(key) if add else key in bf for key in keys]
    kept = (
        b""
        if keep is None
        else b"".join(key + sep for key, hit in zip(keys, answers) if hit is keep)
    )
    return len(keys), sum(answers), kept


def check(data, sep, last, keep, storage=None):
    one, many = BloomFilter(n=10_000, p=0.001), BloomFilter(n=10_000, p=0.001, storage=storage)
    for bf in (one, many):
        bf.update([b"a", b"", b"\xff"])
    keys, consumed = split(data, sep, last)
    for add in (False, True, False):
        count, hits, kept = naive(one, keys, add, keep, sep)
        call = many.update_lines if add else many.contains_lines
        assert call(data, sep, last=last, keep=keep) == (count, hits, consumed, kept)
    assert one.bitset == many.bitset


@given(
    st.binary(max_size=300)
    | st.lists(st.sampled_from([b"a", b"b", b"\n", b"\0", b"\xff"]), max_size=60).map(b"".join),
    st.sampled_from([b"\n", b"\0", b"a"]),
    st.booleans(),
    st.sampled_from([None, True, False]),
)
def test_any_bytes(data, sep, last, keep):
    check(data, sep, last, keep)


@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 999, 1000, 1001, 5000])
@pytest.mark.parametrize("keep", [None, True, False])
def test_sizes(count, keep, tmp_path):
    data = b"".join(b"https://example.org/%d\n" % (i * i % 3000) for i in range(count))
    check(data, b"\n", False, keep)
    check(data + b"rest", b"\n", True, keep)
    check(data + b"rest", b"\n", False, keep, tmp_path / "seen.bloom")


def test_what_is_left_is_given_again(bf):
    data, fed = b"".join(b"key %d\n" % i for i in range(2000)) + b"end", b""
    keys = 0
    for at in range(0, len(data), 7):
        fed += data[at : at + 7]
        count, _, consumed, _ = bf.update_lines(fed)
        keys, fed = keys + count, fed[consumed:]
    assert (keys, fed) == (2000, b"end")
    assert bf.update_lines(fed, last=True)[:3] == (1, 1, 3)
    assert bf.update_lines(fed, last=True)[:3] == (1, 0, 3)
    assert bf.contains_lines(data, last=True)[:2] == (2001, 2001)


def test_long_keys(bf):
    data = b"\n".join([b"x" * (1 << 20), b"", b"y" * 70_000, b""])
    assert bf.update_lines(data, keep=True) == (3, 3, len(data), data)
    assert b"x" * (1 << 20) in bf and b"" in bf and b"y" * 70_000 in bf


@pytest.mark.parametrize(
    "kind",
    [
        bytes,
        bytearray,
        memoryview,
        lambda b: array.array("B", b),
        lambda b: memoryview(b"zz" + b)[2:],
    ],
)
def test_any_buffer(bf, kind):
    assert bf.update_lines(kind(b"a\nb\n")) == (2, 2, 4, b"")


def test_a_mapped_file(bf, tmp_path):
    (tmp_path / "keys").write_bytes(b"a\nb\nb\nc")
    with (
        open(tmp_path / "keys", "rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        assert bf.update_lines(data) == (3, 2, 6, b"")


@pytest.mark.parametrize("sep", [b"", b"\r\n", bytearray(2)])
def test_a_separator_is_one_byte(bf, sep):
    with pytest.raises(ValueError, match=f"sep must be one byte, got {len(sep)}"):
        bf.update_lines(b"a\n", sep)


@pytest.mark.parametrize("data", ["a\n", None, 5, [b"a\n"]])
def test_other_types(bf, data):
    for call in (bf.update_lines, bf.contains_lines):
        with pytest.raises(TypeError):
            call(data)
    assert not bf


def test_other_arguments(bf):
    with pytest.raises(TypeError):
        bf.update_lines(b"a\n", "\n")
    with pytest.raises(TypeError):
        bf.update_lines(b"a\n", b"\n", True)
    with pytest.raises(TypeError):
        bf.update_lines(b"a\n", first=1)


def test_a_bad_key_is_named_and_those_before_it_are_added():
    bf = BloomFilter(m=100_000, scheme="java7")
    data = b"".join(b"key %d\n" % i for i in range(1500)) + b"\xff\nafter\n"
    with pytest.raises(ValueError, match=r"^key 1500: "):
        bf.update_lines(data)
    assert bf.contains_lines(data[:-8])[1] == 1500 and "after" not in bf


def test_closed_and_read_only(bf, tmp_path):
    bf.save(tmp_path / "seen.bloom")
    with BloomFilter.open(tmp_path / "seen.bloom", read_only=True) as other:
        assert other.contains_lines(b"a\n") == (1, 0, 2, b"")
        with pytest.raises(ValueError, match="read-only"):
            other.update_lines(b"a\n")
    with pytest.raises(ValueError, match="closed"):
        other.update_lines(b"a\n")


@pytest.mark.parametrize("home", ["memory", "file"])
def test_threads_lose_nothing(home, tmp_path):
    """Single keys and lines into one filter at once: every bit of every key must be there."""
    bf = BloomFilter(
        n=200_000, p=0.001, storage=None if home == "memory" else tmp_path / "seen.bloom"
    )
    lines = [b"".join(b"%d-%d\n" % (t, i) for i in range(40_000)) for t in range(3)]
    workers = [threading.Thread(target=bf.update_lines, args=(data,)) for data in lines]
    for worker in workers:
        worker.start()
    for i in range(40_000):
        bf.add(b"s-%d" % i)
    for worker in workers:
        worker.join()
    assert [bf.contains_lines(data)[1] for data in lines] == [40_000] * 3
    assert all(bf.contains_many([b"s-%d" % i for i in range(40_000)]))


def test_ctrl_c_ends_a_long_buffer(run_python):
    code = """
import os, signal, threading
from bloomfilter import BloomFilter
data = b"x\\n" * 100_000_000 + b"end\\n"
bf = BloomFilter(n=1000, p=0.01)
for call in (bf.update_lines, bf.contains_lines):
    timer = threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        call(data)
        timer.join()
    except KeyboardInterrupt: print("stopped", b"end" in bf)
    timer.join()
"""
    assert run_python(code).split("\n") == ["stopped False"] * 2


def test_redis(redis_url):  # noqa: F811
    bf = BloomFilter(n=10_000, p=0.001, storage=redis_url)
    data = b"".join(b"%d\n" % (i % 1500) for i in range(2500))
    assert bf.update_lines(data)[:3] == (2500, 1500, len(data))
    assert bf.contains_lines(data + b"none\n", keep=False) == (2501, 2500, len(data) + 5, b"none\n")


@pytest.mark.parametrize("call", [BloomFilter.update_lines, BloomFilter.contains_lines])
def test_a_view_with_gaps(call):
    with pytest.raises(ValueError, match="must be contiguous"):
        call(BloomFilter(100, 10), memoryview(b"a\nb\nc\n")[::2])
