"""Arrow columns: the same bits as one key at a time, from every library that has the interface;
damaged data is refused, and whatever a producer gives out is released, come what may."""

import contextlib
import gc
import struct
import sys

import numpy as np
import pytest
from arrow_producer import EINVAL, EIO, ENOMEM, Column, Streamed, marked, text, views
from hypothesis import given, settings
from hypothesis import strategies as st
from one_by_one import check

from bloomfilter import BloomFilter

WORDS = [
    b"",
    b"a",
    b"https://example.org/",
    "é日🎈".encode(),
    b"\0",
    b"x\0",
    b"123456789012",
    b"1234567890123",
    b"k" * 1000,
] + [b"key %d" % i for i in range(1500)]
BINARY = {
    "binary": lambda keys: text(keys), "large_binary": lambda keys: text(keys, b"Z"), "string": lambda keys: text(keys, b"u"),
    "large_string": lambda keys: text(keys, b"U"), "binary_view": views, "string_view": lambda keys: views(keys, b"vu"),
    "stream": lambda keys: Streamed(text(keys[: len(keys) // 3]), text([]), text(keys[len(keys) // 3 :])),
    "stream of views": lambda keys: Streamed(views(keys[:1]), views(keys[1:])),
}  # fmt: skip


# ---- without any library ----
@pytest.mark.parametrize("kind", BINARY)
@pytest.mark.parametrize("n", [1, 2, 9, 511, 512, 513, 1024, 1025, len(WORDS)])
def test_text(kind, n):
    check(lambda: BINARY[kind](WORDS[:n]), WORDS[:n])


INTEGERS = {b"c": "b", b"C": "B", b"s": "h", b"S": "H", b"i": "i", b"I": "I", b"l": "q", b"L": "Q"}


@pytest.mark.parametrize("format", INTEGERS, ids=lambda f: f.decode())
def test_integers_are_their_decimal_text(format):
    letter = INTEGERS[format]
    bits = 8 * struct.calcsize("=" + letter)
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if letter.islower() else (0, 2**bits - 1)
    values = sorted(
        {low, low + 1, high, high - 1, 0, 1, 9, 10, 99, 100, *((-1, -10) if low else ())}
        | {v for v in range(1500) if v <= high}
    )
    check(
        lambda: Column(
            format, len(values), [None, struct.pack(f"={len(values)}{letter}", *values)]
        ),
        values,
    )


@pytest.mark.parametrize("width", [1, 16, 20, 300])
def test_fixed_size_binary(width):
    keys = [bytes([i % 256]) * width for i in range(600)]
    check(lambda: Column(b"w:%d" % width, len(keys), [None, b"".join(keys)]), keys)
    assert BloomFilter(m=100, k=2).add_many(Column(b"w:0", 3, [None, None])) == b"\1\0\0"


@pytest.mark.parametrize(
    "format", [b"c", b"C", b"s", b"S", b"i", b"I", b"l", b"L"], ids=lambda f: f.decode()
)
@pytest.mark.parametrize("values", ["text", "views", "numbers"])
def test_dictionaries(format, values):
    words = [b"%d" % i if values == "numbers" else b"value number %d" % i for i in range(100)]
    dictionary = {
        "text": lambda: text(words, b"U"), "views": lambda: views(words), "numbers": lambda: Column(b"i", 100, [None, struct.pack("=100i", *range(100))]),
    }[values]  # fmt: skip
    indices = [i * 7 % 100 for i in range(1200)]
    packed = struct.pack(f"=1200{INTEGERS[format]}", *indices)
    check(
        lambda: Column(format, 1200, [None, packed], dictionary=dictionary()),
        [words[i] for i in indices],
    )


@pytest.mark.parametrize("cut", [(0, 5), (3, 9), (700, 100), (1, 0), (8, 1016)], ids=str)
def test_slices(cut):
    offset, length = cut
    for kind in ("binary", "large_binary", "binary_view"):

        def make(kind=kind):
            column = BINARY[kind](WORDS)
            column.offset, column.length = offset, length
            return column

        check(make, WORDS[offset : offset + length])
    numbers = struct.pack("=2000h", *range(2000))
    check(
        lambda: Column(b"s", length, [None, numbers], offset=offset),
        list(range(offset, offset + length)),
    )


def test_a_bitmap_without_nulls():
    check(lambda: marked(text(WORDS), WORDS, counted=False), WORDS)


def test_a_null_in_a_later_chunk_and_in_a_dictionary():
    nothing = marked(text([b"c", b""]), [b"c", None])
    bf = BloomFilter(n=100, p=0.01)
    stream = Streamed(text([b"a", b"b"]), nothing, text([b"d"]))
    with pytest.raises(TypeError, match="^key 3: .*null"):
        bf.update(stream)
    assert not bf and stream.released == 1
    assert (stream.columns[1].made, stream.columns[1].released, stream.columns[2].made) == (1, 1, 0)
    with pytest.raises(TypeError, match="^key 2: .*null"):
        bf.add_many(Column(b"c", 3, [None, b"\0\0\1"], dictionary=nothing))
    assert not bf


REFUSED = {b"n": "null", b"b": "bool", b"e": "float", b"f": "float", b"g": "float", b"d:38,2": "decimal", b"tdD": "date", b"tsu:UTC": "date", b"+s": "a struct: pass one of its fields",
           b"+l": "a list: pass its items", b"+vL": "a list: pass its items", b"+m": "a list: pass its items", b"+w:2": "a list: pass its items",
           b"+ud:0,1": "a union: pass one of its fields", b"+us:0,1": "a union: pass one of its fields",
           b"+r": r"run-end encoded: pass pyarrow.compute.run_end_decode\(keys\)", b"?": "does not know", b"": "does not know", b"vx": "does not know", b"w:x": "does not know",
           b"w:99999999999999": "does not know", b"uu": "does not know"}  # fmt: skip


@pytest.mark.parametrize("format", REFUSED, ids=repr)
def test_types_that_are_no_keys(bf, format):
    in_dictionary = Column(
        b"c", 2, [None, b"\0\0"], dictionary=Column(format, 2, [None, b"\0" * 32])
    )
    for column in (
        Column(format, 2, [None, b"\0" * 32]),
        Streamed(Column(format, 2, [None, b"\0" * 32])),
        in_dictionary,
    ):
        for call in (bf.update, bf.add_many, bf.contains_many):
            column.at = 0
            table = format == b"+s" and column is not in_dictionary
            match = f"^key 0: a key must be .* not .*{REFUSED[format]}"
            with pytest.raises(TypeError, match="^keys must be one column" if table else match):
                call(column)
        assert column.released == column.made > 0
    nothing = Column(format, 0, [None, None])
    if format == b"+s":  # a table without rows
        with pytest.raises(TypeError, match="^keys must be one column"):
            bf.update(nothing)
        assert nothing.released == nothing.made > 0
    else:
        assert bf.update(nothing) == 0
    assert not bf


def broken_offsets(format, values):
    return Column(
        format,
        len(values) - 1,
        [
            None,
            struct.pack(f"={len(values)}{'q' if format in b'ZU' else 'i'}", *values),
            b"x" * 100,
        ],
    )


def one_view(place, value):
    """Of a key of 20 bytes, with one of its four numbers put wrong."""
    return views(
        [b"k" * 20], edit=lambda view: view[:place] + struct.pack("=i", value) + view[place + 4 :]
    )


DAMAGED = {
    "decreasing": lambda: broken_offsets(b"z", [0, 5, 3, 9]), "far and back": lambda: broken_offsets(b"u", [0, 2**31 - 1, 5]),
    "far and back, 64": lambda: broken_offsets(b"U", [0, 2**62, 5]), "negative": lambda: broken_offsets(b"z", [-1, 5]),
    "negative, 64": lambda: broken_offsets(b"Z", [-(2**63), 5]), "late": lambda: broken_offsets(b"z", [*range(99), 5]),
    "no offsets": lambda: Column(b"z", 3, [None, None, b"abc"]), "no text": lambda: Column(b"z", 1, [None, struct.pack("=2i", 0, 3), None]),
    "two buffers": lambda: Column(b"z", 1, [None, struct.pack("=2i", 0, 3)]), "no buffers": lambda: Column(b"l", 1, []), "no items": lambda: Column(b"l", 1, [None, None]),
    "length": lambda: Column(b"l", -1, [None, b"\0" * 8]), "offset": lambda: Column(b"l", 1, [None, b"\0" * 8], offset=-1),
    "both huge": lambda: Column(b"l", 2**62, [None, b"\0" * 8], offset=2**62), "offset huge": lambda: Column(b"w:2000000000", 1, [None, b"\0" * 8], offset=2**50),
    "nulls uncharted": lambda: Column(b"l", 1, [None, b"\0" * 8], nulls=1), "view sizes": lambda: Column(b"vz", 1, [None, b"\0" * 16, b"", None]),
    "views": lambda: Column(b"vz", 1, [None, None, None]),
    "view negative": lambda: one_view(0, -1), "view long": lambda: one_view(0, 21), "view part": lambda: one_view(8, 1), "view part negative": lambda: one_view(8, -1),
    "view place": lambda: one_view(12, 1), "view place negative": lambda: one_view(12, -1), "view place far": lambda: one_view(12, 2**31 - 1),
    "view without parts": lambda: views([b"k" * 20], parts=[]),
    "index": lambda: Column(b"c", 2, [None, b"\0\2"], dictionary=text([b"a", b"b"])), "index negative": lambda: Column(b"c", 1, [None, b"\xff"], dictionary=text([b"a", b"b"])),
    "index huge": lambda: Column(b"L", 1, [None, b"\xff" * 8], dictionary=text([b"a"])), "index into nothing": lambda: Column(b"c", 1, [None, b"\0"], dictionary=text([])),
    "dictionary damaged": lambda: Column(b"c", 1, [None, b"\0"], dictionary=broken_offsets(b"z", [0, 5, 3])),
    "dictionary of text": lambda: Column(b"z", 1, [None, struct.pack("=2i", 0, 1), b"a"], dictionary=text([b"a"])),
    "dictionary in a dictionary": lambda: Column(b"c", 1, [None, b"\0"], dictionary=Column(b"c", 1, [None, b"\0"], dictionary=text([b"a"]))),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_data_is_a_valueerror(bf, damage):
    for call in (bf.update, bf.add_many, bf.contains_many):
        column = DAMAGED[damage]()
        with pytest.raises(ValueError, match="damaged Arrow data"):
            call(column)
        assert column.released == column.made == 2


def test_damage_names_the_key_and_adds_nothing_that_was_not_checked(bf):
    with pytest.raises(ValueError, match="^key 1: "):
        bf.update(broken_offsets(b"z", [0, 5, 3, 9]))
    assert not bf
    with pytest.raises(ValueError, match="^key 1500: "):
        bf.update(
            Column(
                b"s",
                1501,
                [None, struct.pack("=1501h", *range(1500), 9999)],
                dictionary=text(WORDS[:1500]),
            )
        )
    expected = BloomFilter(n=10_000, p=0.001)
    expected.update(WORDS[:1500])
    assert bf == expected


# ---- producers that fail ----
@pytest.mark.parametrize("where", [-1, 0, 1, 2])
@pytest.mark.parametrize(
    ("code", "error"),
    [(EIO, OSError), (EINVAL, ValueError), (ENOMEM, MemoryError)],
    ids=["EIO", "EINVAL", "ENOMEM"],
)
def test_a_stream_that_fails(bf, where, code, error):
    stream = Streamed(
        text([b"a"]), text([b"b"]), text([b"c"]), fail=(where, code, "the disk is gone")
    )
    with pytest.raises(error, match=None if error is MemoryError else "the disk is gone"):
        bf.update(stream)
    assert not bf  # nothing is added before the whole stream was read
    assert stream.released == 1 and all(column.made == column.released for column in stream.columns)


def test_a_stream_that_fails_without_a_word(bf):
    with pytest.raises(OSError, match="Arrow stream failed: .+"):
        bf.update(Streamed(text([b"a"]), fail=(0, EIO, None)))


def test_what_was_consumed_is_refused(bf):
    class Twice:
        def __init__(self, column):
            self.capsules = column.__arrow_c_array__()

        def __arrow_c_array__(self, requested_schema=None):
            return self.capsules

    keys = Twice(text([b"a"]))
    assert bf.update(keys) == 1
    with pytest.raises(ValueError, match="consumed before"):
        bf.update(keys)


@pytest.mark.parametrize("given", [None, 5, (), (1,), (1, 2), (1, 2, 3), [1, 2]], ids=repr)
@pytest.mark.parametrize("name", ["__arrow_c_array__", "__arrow_c_stream__"])
def test_what_is_no_capsule(bf, given, name):
    with pytest.raises((TypeError, ValueError)):
        bf.update(type("Keys", (), {name: lambda self: given})())


def test_capsules_of_another_kind(bf):
    first, column = text([b"a"]), text([b"a"])  # what capsules point to lives as long as these
    schema, array = first.__arrow_c_array__()
    for pair in ((array, schema), (schema, schema), (column.__arrow_c_array__()[0], array)):
        keys = type("Keys", (), {"__arrow_c_array__": lambda self, pair=pair: pair})()
        with contextlib.suppress(ValueError):
            bf.update(keys)
    with pytest.raises(ValueError):
        bf.update(type("Keys", (), {"__arrow_c_stream__": lambda self: array})())
    assert first.made == column.made == 2


def test_an_object_that_cannot_be_exported_but_iterated(bf):
    class Mixed:
        def __arrow_c_stream__(self, requested_schema=None):
            raise self.error

        def __iter__(self):
            return iter(["a", 2, b"c"])

    for error in (TypeError("mixed"), ImportError("no pyarrow"), NotImplementedError()):
        keys = Mixed()
        keys.error = error
        bf.clear()
        assert bf.update(keys) == 3
    for error in (MemoryError(), KeyboardInterrupt()):
        keys.error = error
        with pytest.raises(type(error)):
            bf.update(keys)
    keys.columns, keys.error = ["a", 2], TypeError("a table of mixed columns")
    with pytest.raises(TypeError, match="mixed columns"):
        bf.update(keys)
    del Mixed.__iter__
    with pytest.raises(TypeError, match="mixed columns"):
        bf.update(keys)


def test_a_release_callback_that_uses_the_filter(bf):
    column = text([b"a", b"b"])
    column.on_release = lambda: bf.add("released")
    assert bf.update(column) == 2 and "released" in bf
    column = DAMAGED["decreasing"]()
    column.on_release = lambda: bf.update(["and again"])
    with pytest.raises(ValueError, match="damaged"):
        bf.update(column)
    assert "and again" in bf


def test_no_reference_is_kept(bf):
    column, given = text(WORDS), []

    class Keys:
        def __arrow_c_array__(self, requested_schema=None):
            given.append(column.__arrow_c_array__())
            return given[-1]

    keys = Keys()
    before = sys.getrefcount(keys)
    for _ in range(20):
        bf.update(keys)
    gc.collect()
    assert sys.getrefcount(keys) == before and column.made == column.released == 40
    assert {sys.getrefcount(given[i]) for i in range(20)} == {2}
    assert {sys.getrefcount(given[i][j]) for i in range(20) for j in range(2)} == {2}


# ---- the same bits, from every kind of batch ----
@given(keys=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), max_size=60))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_same_bits_for_text(keys):
    data = [key.encode() for key in keys]
    check(lambda: keys, keys)
    check(lambda: data, keys)
    for make in BINARY.values():
        if data:
            check(lambda make=make: make(data), keys)
    if not any(key.endswith("\0") for key in keys):  # numpy cannot tell them from padding
        check(lambda: np.array(keys, dtype="U31"), keys)
        check(lambda: np.array(data, dtype="S130"), keys)


# ---- real libraries; others are in test_masks.py and test_nulls.py ----


def test_nanoarrow(bf):
    na = pytest.importorskip("nanoarrow")
    words = [word.decode() for word in WORDS]
    check(lambda: na.Array(words, na.string()), words)
    check(lambda: na.c_array(words, na.large_string()), words)
    check(lambda: na.Array(range(2000), na.int32()), range(2000))
    check(lambda: na.ArrayStream(na.Array(words, na.string())), words)
    with pytest.raises(TypeError, match="^key 1: .*null"):
        bf.update(na.Array(["a", None], na.string()))


def test_no_library_is_imported(run_python):
    code = """
import sys
from bloomfilter import BloomFilter
class Keys:
    def __arrow_c_array__(self): raise TypeError
    def __iter__(self): return iter(["a"])
assert BloomFilter(100, 10).update(Keys()) == 1
print(*[name for name in ("numpy", "pyarrow", "polars", "pandas", "scrapy", "pyspark", "redis") if name in sys.modules])
"""
    assert run_python(code) == ""
