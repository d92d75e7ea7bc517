"""What a key is: str as UTF-8, bytes-like as it is, int as decimal text; everything else is a
TypeError."""

import array
import ctypes
import enum
import datetime
import decimal
import mmap
import pathlib
import pickle
import sys
import uuid

import numpy as np
import pytest

from bloomfilter import BloomFilter

pytestmark = pytest.mark.quick


class Text(str):
    def __str__(self):
        return "not this"


class Bytes(bytes):
    pass


class Number(int):
    def __str__(self):
        return "not this"

    __repr__ = __str__


class Index:
    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


class Level(enum.IntEnum):
    HIGH = 42


# (key, the bytes it stands for)
KEYS = [
    ("", b""),
    (b"", b""),
    ("a", b"a"),
    ("\0", b"\0"),
    (b"a\0b", b"a\0b"),
    ("a\0b", b"a\0b"),
    ("é", "é".encode()),
    ("\x7f\x80\xff", "\x7f\x80\xff".encode()),
    ("日本語", "日本語".encode()),
    ("\u07ff\u0800\uffff", "\u07ff\u0800\uffff".encode()),
    ("🙂x", "🙂x".encode()),
    ("\U00010000\U0010ffff", "\U00010000\U0010ffff".encode()),
    ("é" * 1000, ("é" * 1000).encode()),
    ("日" * 5000, ("日" * 5000).encode()),
    ("🙂" * 3000, ("🙂" * 3000).encode()),
    ("\ud7ff\ue000", "\ud7ff\ue000".encode()),
    (Text("abc"), b"abc"),
    (Text("dé"), "dé".encode()),
    (Text("日本"), "日本".encode()),
    (Bytes(b"abc"), b"abc"),
    (bytearray(b"abc"), b"abc"),
    (memoryview(b"abc"), b"abc"),
    (memoryview(b"abcdef")[::2], b"ace"),
    (memoryview(b"abc")[::-1], b"cba"),
    (memoryview(b"abc").cast("c"), b"abc"),
    (array.array("B", [1, 2]), b"\1\2"),
    (array.array("b", [-1, 2]), b"\xff\2"),
    ((ctypes.c_char * 3)(*b"abc"), b"abc"),
    (np.frombuffer(b"abc", "u1"), b"abc"),
    (np.bytes_(b"abc"), b"abc"),
    (np.str_("abc"), b"abc"),
    (np.str_("é"), "é".encode()),
    ((ctypes.c_ubyte * 2)(1, 2), b"\1\2"),
    (pickle.PickleBuffer(b"abc"), b"abc"),
    (np.arange(10, dtype="u1")[::3], b"\0\3\6\t"),
    (np.zeros(0, "u1"), b""),
    (0, b"0"),
    (42, b"42"),
    (-100, b"-100"),
    (2**63 - 1, b"9223372036854775807"),
    (-(2**63), b"-9223372036854775808"),
    (2**63, b"9223372036854775808"),
    (2**64, b"18446744073709551616"),
    (-(10**40), b"-1" + b"0" * 40),
    (10**1000, b"1" + b"0" * 1000),
    (Number(42), b"42"),
    (Number(10**30), b"1" + b"0" * 30),
    (Index(42), b"42"),
    (Index(-(10**30)), b"-1" + b"0" * 30),
    (Level.HIGH, b"42"),
    (np.int8(-128), b"-128"),
    (np.uint64(2**64 - 1), b"18446744073709551615"),
    (np.int16(5), b"5"),
    (np.array(5), b"5"),
    (np.longlong(7), b"7"),
    (ctypes.create_string_buffer(b"ab"), b"ab\0"),
]
IDS = [f"{i}-{type(key).__name__}" for i, (key, _) in enumerate(KEYS)]


@pytest.mark.parametrize("key, as_bytes", KEYS, ids=IDS)
def test_a_key_is_its_bytes(bf, key, as_bytes):
    assert bf.hashcode(key) == bf.hashcode(as_bytes)
    assert bf.existKey(key) is False and key not in bf
    assert bf.add(key) is True and bf.add(as_bytes) is False
    assert key in bf and as_bytes in bf and bf.existKey(key) is True
    bf.clear()
    keys = [*(f"around{i}" for i in range(5)), key, "ß", key, 77777]
    assert bf.add_many(iter(keys)) == b"\1\1\1\1\1\1\1\0\1"
    assert bf.contains_many([as_bytes, key, "absent"]) == b"\1\1\0"
    other = BloomFilter(n=10_000, p=0.001)
    assert other.update(tuple(keys)) == 8 and other == bf


def test_mmap_is_a_key(bf):
    with mmap.mmap(-1, 16) as m:
        m[:3] = b"abc"
        assert bf.add(m) and b"abc" + bytes(13) in bf


def test_long_keys(bf):
    key = b"x" * (20 << 20)
    assert bf.add(key) and key in bf and not bf.add(key.decode())
    assert key + b"x" not in bf
    assert bf.contains_many([key, "a", key]) == b"\1\0\1"


BAD = [
    True,
    None,
    1.5,
    1j,
    [],
    (),
    {},
    {"a"},
    object(),
    int,
    np.bool_(True),
    np.float32(1),
    np.array(1.5),
    np.array(True),
    np.void(b"abc"),
    np.datetime64("2020"),
    np.timedelta64(5, "s"),
    np.array([None, "a"], dtype=object),
    np.array([1, 2]),
    np.array([True]),
    np.array(["a"]),
    np.array([b"a"]),
    np.array(["2020"], "M8[s]"),
    np.zeros(2, [("a", "u1")]),
    np.zeros((2, 3), "u1"),
    np.zeros((1, 3), "u1"),
    np.zeros((0, 3), "u1"),
    memoryview(b"abcdef").cast("B", (2, 3)),
    memoryview(b"abcd").cast("i"),
    array.array("H", [1, 2]),
    array.array("d", [0.0]),
    array.array("u", "a"),
    (ctypes.c_int * 2)(),
    (ctypes.c_char * 2 * 2)(),
    uuid.UUID(int=1),
    pathlib.PurePath("a"),
    decimal.Decimal(1),
    datetime.date(2020, 1, 1),
    ("a",),
    range(3),
    Ellipsis,
]


@pytest.mark.parametrize("bad", BAD, ids=lambda v: f"{type(v).__name__}")
def test_everything_else_is_a_typeerror(bf, bad):
    for call in (bf.add, bf.addKey, bf.existKey, bf.hashcode, bf.__contains__):
        with pytest.raises(TypeError, match="must be str, bytes-like or int"):
            call(bad)
    assert not bf
    for call in (bf.update, bf.add_many, bf.contains_many):
        with pytest.raises(TypeError, match="^key 2: .*must be str, bytes-like or int"):
            call(["a", "b", bad, "c"])
        with pytest.raises(TypeError, match="^key 0: "):
            call(iter([bad]))
    assert "a" in bf and "b" in bf and "c" not in bf


@pytest.mark.parametrize(
    "bad, advice",
    [
        (uuid.UUID(int=1), "not UUID: pass str(key) or key.bytes"),
        (pathlib.PurePosixPath("a"), "not PurePosixPath: pass str(key)"),
        (1.5, "not float: pass str(key)"),
        (("a", "b"), "not tuple: pass its items to update(), or one text"),
        (np.array([1, 2]), "not numpy.ndarray: pass its items to update(), or its tobytes()"),
        (None, "not NoneType"),
    ],
)
def test_the_message_shows_the_conversion(bf, bad, advice):
    for call in (bf.add, bf.__contains__, lambda key: bf.update([key])):
        with pytest.raises(TypeError) as fault:
            call(bad)
        assert str(fault.value).endswith(f"a key must be str, bytes-like or int, {advice}")


def test_ints_have_as_many_digits_as_python_writes(bf):
    digits = sys.get_int_max_str_digits()
    assert bf.add(10 ** (digits - 1)) and b"1" + b"0" * (digits - 1) in bf
    for call in (bf.add, bf.__contains__, bf.hashcode, lambda key: bf.update([key])):
        with pytest.raises(ValueError, match="digits"):
            call(10**digits)


@pytest.mark.parametrize(
    "bad", ["\ud800", "abc\udfff", "日\udc80", "🙂\ud800", "x" * 5000 + "\udabc"], ids=ascii
)
def test_lone_surrogates_are_valueerrors(bf, bad):
    place = len(bad) - 1
    with pytest.raises(ValueError, match=f"surrogate U\\+d?.* position {place} "):
        bf.add(bad)
    with pytest.raises(ValueError):
        assert bad in bf
    with pytest.raises(ValueError, match="^key 1: "):
        bf.update(["a", bad, "b"])
    assert "a" in bf and "b" not in bf


def test_released_memoryview_is_refused(bf):
    view = memoryview(b"abc")
    view.release()
    with pytest.raises((TypeError, ValueError)):
        bf.add(view)


def test_a_named_exception_keeps_where_it_came_from(bf):
    class Wrong:
        def __index__(self):
            raise TypeError("mine") from LookupError("the cause")

    for keys in ([Wrong()], iter(["a", Wrong()])):
        with pytest.raises(TypeError, match="^key [01]: mine$") as fault:
            bf.update(keys)
        assert isinstance(fault.value.__cause__, LookupError)
        assert "__index__" in [entry.name for entry in fault.traceback]


def test_a_str_does_not_grow(bf):
    keys = ["ascii" * 3, "é" * 9, "日本" * 5, "🙂" * 7, "é" * 2000]
    keys = ["".join(list(key)) for key in keys]
    before = [sys.getsizeof(key) for key in keys]
    for key in keys:
        bf.add(key)
        assert key in bf
        bf.hashcode(key)
    bf.update(keys)
    bf.contains_many(iter(keys))
    assert [sys.getsizeof(key) for key in keys] == before
