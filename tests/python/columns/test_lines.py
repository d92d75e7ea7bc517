"""Keys in one buffer, each ended by a separator: the same as splitting it and adding one key at a
time."""

import array

import pytest
from hypothesis import given
from hypothesis import strategies as st
from names import plain

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


def test_a_bad_key_is_named_and_those_before_it_are_added():
    bf = BloomFilter(m=100_000, scheme="java7")
    data = b"".join(b"key %d\n" % i for i in range(1500)) + b"\xff\nafter\n"
    with pytest.raises(ValueError, match=r"^key 1500: "):
        bf.update_lines(data)
    assert bf.contains_lines(data[:-8])[1] == 1500 and "after" not in bf


@pytest.mark.parametrize(
    "given, more, error",
    [
        *(((data,), {}, TypeError) for data in ("a\n", None, 5, [b"a\n"])),
        ((memoryview(b"a\nb\nc\n")[::2],), {}, ValueError),
        *(((b"a\n", sep), {}, ValueError) for sep in (b"", b"\r\n", bytearray(2))),
        ((b"a\n", "\n"), {}, TypeError),
        ((b"a\n", b"\n", True), {}, TypeError),
        ((b"a\n",), {"first": 1}, TypeError),
    ],
    ids=plain,
)
def test_other_arguments(bf, given, more, error):
    for call in (bf.update_lines, bf.contains_lines):
        with pytest.raises(error):
            call(*given, **more)
    assert not bf
