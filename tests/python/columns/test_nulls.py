"""Nulls in columns: refused before any key is added, or skipped where nulls="skip" says so."""

import struct

import columns
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from arrow_producer import Column, Streamed, marked, text, views

from bloomfilter import BloomFilter

KEYS = [b"key %d" % i if i % 3 else None for i in range(5000)]
LONG = [b"a key of more than twelve bytes %d" % i if i % 7 else None for i in range(3000)]


def filled(keys):
    return [b"" if key is None else key for key in keys]


def numbers(keys):
    return [None if key is None else i - 1000 for i, key in enumerate(keys)]


def numbers_column(keys):
    packed = struct.pack(f"={len(keys)}q", *(n or 0 for n in numbers(keys)))
    return marked(Column(b"l", len(keys), [None, packed]), keys)


def dictionary_of(indices, values):
    packed = struct.pack(f"={len(indices)}i", *(i or 0 for i in indices))
    return Column(b"i", len(indices), [None, packed], dictionary=values)


def null_indices(keys):
    return marked(dictionary_of(range(len(keys)), text(filled(keys))), keys)


def null_values(keys):
    return dictionary_of(range(len(keys)), marked(text(filled(keys)), keys))


def in_chunks(make):
    return lambda keys: Streamed(*(make(keys[i : i + 700]) for i in range(0, len(keys), 700)))


def sliced(offset):
    def column(keys):
        made = marked(text([b"before"] * offset + filled(keys)), [b""] * offset + keys)
        made.offset, made.length = offset, len(keys)
        return made

    return column


COLUMNS = {
    "text": lambda keys: marked(text(filled(keys)), keys),
    "large text": lambda keys: marked(text(filled(keys), b"Z"), keys),
    "views": lambda keys: marked(views(filled(keys)), keys),
    "null indices": null_indices,
    "null values": null_values,
    "slice": sliced(5),
    "slice of whole bytes": sliced(8),
    "not counted": lambda keys: marked(text(filled(keys)), keys, counted=False),
    "chunks": in_chunks(lambda keys: marked(text(filled(keys)), keys)),
    "chunks of views": in_chunks(lambda keys: marked(views(filled(keys)), keys)),
    "numpy objects": lambda keys: np.array(keys, object),
    "numpy objects with NaN": lambda keys: np.array([float("nan") if k is None else k for k in keys], object),
}  # fmt: skip


def of_words(name):
    return lambda keys: columns.COLUMNS[name]([key and key.decode() for key in keys])


LIBRARIES = {
    name: of_words(name)
    for name in columns.COLUMNS
    if name.split()[0] in ("Arrow", "polars", "pandas") and name.split()[-1] not in ("bytes", "numbers")
} | {
    "pyarrow binary": lambda keys: pa.array(keys, pa.binary()),
    "polars binary": lambda keys: pl.Series(keys, dtype=pl.Binary),
    "pandas NA": lambda keys: pd.Series([pd.NA if k is None else k for k in keys], dtype=object).to_numpy(),
}  # fmt: skip


def expected(keys):
    bf = BloomFilter(n=10_000, p=0.001)
    return bytes(key is not None and bf.add(key) for key in keys)


def check(make, keys, given=None):
    """Refused as a whole; with nulls="skip" the same answers as of its keys one by one."""
    bf = BloomFilter(n=10_000, p=0.001)
    for call in (bf.update, bf.add_many, bf.contains_many):
        with pytest.raises(TypeError, match="null") as fault:
            call(make(keys))
        assert fault.value.index == keys.index(None)
        assert str(fault.value).startswith(f"key {keys.index(None)}: ")
    assert not bf
    columns.check(lambda: make(keys), keys if given is None else given, nulls="skip")


@pytest.mark.parametrize("kind", [*COLUMNS, *LIBRARIES])
@pytest.mark.parametrize("keys", [KEYS, LONG, [None, b"a"], *([b"a"] * n + [None] for n in (511, 512, 2500))],
                         ids=["many", "long", "first", "last of a piece", "first of a piece", "after many"])  # fmt: skip
def test_every_kind_of_column(kind, keys):
    check(COLUMNS.get(kind) or LIBRARIES[kind], keys)


def test_numbers():
    check(numbers_column, KEYS, numbers(KEYS))
    check(lambda keys: pa.array(numbers(keys)), KEYS, numbers(KEYS))
    check(lambda keys: pd.array(numbers(keys), dtype="Int64"), KEYS, numbers(KEYS))
    check(lambda keys: pd.Series(numbers(keys), dtype="Int64"), KEYS, numbers(KEYS))


def test_only_nulls(bf):
    for nothing in (pa.nulls(3000), pa.array([None] * 3000, pa.string()), np.array([None] * 3000)):
        with pytest.raises(TypeError, match="^key 0: .*null"):
            bf.update(nothing)
        assert bf.add_many(nothing, nulls="skip") == bytes(3000) and not bf
    assert bf.update(pa.nulls(0)) == 0


def test_only_nulls_of_a_category(bf):
    """A pandas category without a value has a dictionary of no floats: no key is a float."""
    empty = Column(b"g", 0, [None, None])
    nothing = marked(Column(b"c", 3, [None, b"\0\0\0"], dictionary=empty), [None] * 3)
    with pytest.raises(TypeError, match="^key 0: .*null"):
        bf.update(nothing)
    assert bf.add_many(nothing, nulls="skip") == bytes(3) and not bf


def test_masked_arrays(bf):
    masked = np.ma.masked_array([1, 2, 3], [False, True, False])
    with pytest.raises(TypeError, match="^key 1: .*null"):
        bf.update(masked)
    assert not bf
    assert bf.add_many(masked, nulls="skip") == b"\1\0\1"
    assert bf.contains_many([1, 2, 3]) == b"\1\0\1"
    assert bf.update(np.ma.masked_array([1, 2, 4], False)) == 2


def test_lists_and_generators_are_not_columns(bf):
    """Keys before a bad one are added, as ever; skipping is possible."""
    keys = ["a", None, "b", float("nan"), "c"]
    for make in (list, tuple, iter):
        with pytest.raises(TypeError, match="^key 1: "):
            bf.update(make(keys))
        assert bf.contains_many(["a", "b", "c"]) == b"\1\0\0"
        bf.clear()
        assert bf.add_many(make(keys), nulls="skip") == b"\1\0\1\0\1"
        assert bf.contains_many(["a", "b", "c"]) == b"\1\1\1"
        bf.clear()
    many = [None if i % 2 else str(i) for i in range(5001)]
    assert bf.update((key for key in many), nulls="skip") == expected(many).count(1)


def test_a_bad_key_among_nulls_is_named_by_its_row(bf):
    with pytest.raises(TypeError, match="^key 4: ") as fault:
        bf.update(np.array([None, "a", None, "b", 1.5, "c"], object), nulls="skip")
    assert fault.value.index == 4
    assert bf.contains_many(["a", "b", "c"]) == b"\1\1\0"
    indices = dictionary_of([0, 1, 0, 9], marked(text([b"x", b""]), [b"x", None]))
    with pytest.raises(ValueError, match="^key 3: "):
        bf.update(indices, nulls="skip")
    assert "x" in bf


def test_the_argument(bf):
    assert bf.update(["a"], nulls="raise") == 1
    for wrong in ("", "Skip", "ignore", None, True, b"skip"):
        with pytest.raises(ValueError, match="nulls must be 'raise' or 'skip', got "):
            bf.update(["b"], nulls=wrong)
    for call in (bf.update, bf.add_many, bf.contains_many):
        with pytest.raises(TypeError):
            call()
        with pytest.raises(TypeError):
            call(["b"], "skip")
        with pytest.raises(TypeError, match="unexpected keyword argument 'null'"):
            call(["b"], null="skip")
        with pytest.raises(TypeError):
            call(keys=["b"])
    assert "b" not in bf


def test_a_rebuild_from_a_column_with_nulls_changes_nothing(bf):
    bf.update(["a", "b"])
    before = bf.to_bytes()
    with pytest.raises(TypeError, match="^key 1: .*null"):
        bf.rebuild(np.array(["c", None], object))
    assert bf.to_bytes() == before


def test_an_iterator_with_array_is_no_column():
    """To look for nulls first would read it to its end: no key would be left to add."""
    flat = np.array([["a", "b"], [None, "d"]], dtype=object).flat
    bf = BloomFilter(n=100, p=0.01)
    with pytest.raises(TypeError, match="^key 2: "):
        bf.update(flat)
    assert [key in bf for key in "abd"] == [True, True, False]
    assert bf.update(np.array([["e", "f"], ["g", "h"]]).flat) == 4
