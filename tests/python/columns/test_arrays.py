"""Batches straight from arrays: the same answers as one key at a time, for every dtype, order and
stride."""

import array
import ctypes

import numpy as np
import pytest
from one_by_one import check

from bloomfilter import BloomFilter, CountingBloomFilter

INTEGERS = [order + kind + width for order in "<>" for kind in "iu" for width in "1248"] + [
    *"l L q Q intp uintp".split()
]


def check_array(keys):
    kind = {"S": bytes, "U": str}.get(keys.dtype.kind, int)
    check(lambda: keys, [kind(key) for key in keys])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_are_the_digits_that_python_prints(dtype):
    """Every digit at every place, and both sides of every power of ten."""
    info = np.iinfo(dtype)
    sizes = {
        digit * 10**place + more
        for digit in range(10)
        for place in range(20)
        for more in (-1, 0, 1)
    }
    sizes |= {12345678901234567890 >> shift for shift in range(64)} | {info.max, info.max - 1}
    values = sizes | {-v for v in sizes} | {info.min}
    check_array(np.array(sorted(v for v in values if info.min <= v <= info.max), dtype=dtype))
    longest = [info.max - i for i in range(min(info.max, 1500))]
    check_array(np.array(longest, dtype=dtype))


@pytest.mark.parametrize("dtype", ["i4", ">i8", "u1", "S7"])
@pytest.mark.parametrize(
    "cut",
    [slice(None, None, 2), slice(None, None, -1), slice(5, 50, 7), slice(0, 0), slice(3, 4)],
    ids=str,
)
def test_strides(dtype, cut):
    check_array(np.arange(100).astype(dtype)[cut])


def test_columns():
    check_array(np.arange(300, dtype="i4").reshape(100, 3)[:, 1])
    table = np.zeros(50, dtype=[("id", "i8"), ("name", "S5"), ("flag", "?")])
    table["id"], table["name"] = range(50), [b"n%d" % i for i in range(50)]
    check_array(table["id"])
    check_array(table["name"])


def test_repeated_items(bf):
    keys = np.broadcast_to(np.int64(-5), (3000,))
    assert bf.update(keys) == 1 and bf.add_many(keys) == bytes(3000) and "-5" in bf


@pytest.mark.parametrize("width", [1, 2, 7, 8, 9, 16, 17, 64, 1000])
def test_text(width):
    check_array(
        np.array([b"", b"a", b"ab", b"a" * width, b"\xff" * width, b"\1"], dtype=f"S{width}")
    )


def test_text_loses_the_nul_bytes_at_its_end_only(bf):
    keys = np.array(
        [
            b"\0a",
            b"a\0b",
            b"ab\0\0",
            b"\0\0",
            b"12345678\0\0\0\0\0\0\0\0",
            b"12345678\0\0\0\0\0\0\0\1",
        ],
        dtype="S16",
    )
    bf.update(keys)
    for key in (b"\0a", b"a\0b", b"ab", b"", b"12345678", b"12345678\0\0\0\0\0\0\0\1"):
        assert key in bf
    assert b"ab\0\0" not in bf


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("width", [1, 9, 100, 2559, 2560, 2561, 5000])
def test_unicode_is_its_utf8(order, width):
    words = [
        "",
        "a",
        "é",
        "日" * width,
        "🎈" * width,
        "\uffff" * (width // 2),
        "\0x"[:width],
        *map(str, range(700)),
    ]
    keys = np.array(words, dtype=f"{order}U{width}")
    check_array(keys)
    check_array(keys[::-3])


@pytest.mark.parametrize("place", [0, 511, 512, 2000])
def test_what_has_no_utf8_form_is_named_by_its_index(bf, place):
    keys = np.array([f"k{i}" for i in range(3000)])
    keys[place] = "x\udc80"
    with pytest.raises(ValueError, match=f"^key {place}: .*U.dc80"):
        bf.update(keys)
    assert bf.contains_many(keys[:place]) == b"\1" * place and f"k{place + 1}" not in bf
    beyond = np.array([0x110000, 0x61], dtype="u4").view("U1")
    with pytest.raises(ValueError, match="^key 0: .*U.110000"):
        bf.update(beyond)


def test_the_buffer_is_given_back(bf):
    for keys in (bytearray(b"abc"), array.array("i", [1, 2])):
        view = memoryview(keys)
        bf.update(view) if view.itemsize > 1 else bf.add(view)
        with pytest.raises(TypeError):
            bf.add(view) if view.itemsize > 1 else bf.update(view)
        view.release()
        keys.append(1)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "?", "c16", "M8[s]", "m8[s]", "V3"])
def test_other_dtypes_are_typeerrors_naming_the_index(bf, dtype):
    keys = np.zeros(3, dtype=dtype)
    with pytest.raises(TypeError, match="^key 0: "):
        bf.update(keys)
    assert bf.update(keys[:0]) == 0


ONE = "keys must be one column, not a table or an array of arrays .*: pass one of its columns"
DEEP = {
    "ints": np.array([[1], [2], [3]]),
    "one row": np.array([[1, 2]]),
    "no row": np.zeros((0, 3), "i4"),
    "no column": np.zeros((3, 0), "i4"),
    "three dimensions": np.zeros((2, 2, 2), "u1"),
    "text": np.array([["a", "b"], ["c", "d"]]),
    "bytes": np.array([[b"a"]]),
    "floats": np.array([[1.5]]),
    "booleans": np.array([[True]]),
    "objects": np.array([["a", None]], object),
    "dates": np.array([["2020"]], "M8[s]"),
    "digests": np.zeros((4, 16), "u1"),
    "masked": np.ma.masked_array([[1, 2]], [[True, False]]),
    "records": np.zeros(2, [("a", "i4"), ("b", "S3")]),
    "fortran": np.asfortranarray(np.zeros((2, 3), "i8")),
    "view": memoryview(bytes(24)).cast("q", (1, 3)),
    "ctypes": (ctypes.c_int * 2 * 2)(),
}


@pytest.mark.parametrize("kind", DEEP)
@pytest.mark.parametrize("nulls", ["raise", "skip"])
def test_arrays_of_arrays_are_typeerrors(kind, nulls):
    bf = CountingBloomFilter(n=1000, p=1e-6)
    calls = [bf.update, bf.add_many, bf.contains_many, bf.add_mask, bf.contains_mask]
    for call in (*calls, bf.remove_many, bf.count_many):
        with pytest.raises(TypeError, match=ONE):
            call(DEEP[kind], nulls=nulls)
    with pytest.raises(TypeError, match=ONE):
        bf.rebuild(DEEP[kind])
    assert not bf


def test_rows_in_a_list_are_keys_if_they_are_bytes(bf):
    digests = np.arange(64, dtype="u1").reshape(4, 16)
    assert bf.update(list(digests)) == 4
    assert bytes(range(16, 32)) in bf
    with pytest.raises(TypeError, match="^key 0: .*not numpy.ndarray"):
        bf.update(list(np.array([[1], [2]])))
    if hasattr(np.dtypes, "StringDType"):
        words = np.array(["a", "b"], np.dtypes.StringDType())
        assert bf.update(words) == 2 and "b" in bf
        with pytest.raises(TypeError, match=ONE):
            bf.update(words.reshape(2, 1))


def test_memoryviews_of_numbers(bf):
    assert bf.add_many(memoryview(array.array("h", [1, -1, 300]))) == b"\1\1\1"
    assert 300 in bf and -1 in bf


@pytest.mark.parametrize("given", [lambda keys: keys, memoryview])
def test_a_nul_of_an_array_of_characters_is_a_key(given):
    """Not padding, as in numpy's texts of fixed width."""
    characters = array.array("u", "a\0b\N{EURO SIGN}")
    bf = BloomFilter(n=100, p=1e-9)
    assert bf.add_many(given(characters)) == b"\1\1\1\1"
    assert bf.contains_many(["a", "\0", "b", "\N{EURO SIGN}"]) == b"\1\1\1\1"
    assert "" not in bf
