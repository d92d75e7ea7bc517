"""Nulls in columns: refused before any key is added, or skipped where nulls="skip" says so."""

import struct

import numpy as np
import pytest
from arrow_producer import Column, Streamed, text, views

from bloomfilter import BloomFilter, CountingBloomFilter

KEYS = [b"key %d" % i if i % 3 else None for i in range(5000)]
LONG = [b"a key of more than twelve bytes %d" % i if i % 7 else None for i in range(3000)]


def marked(column, keys):
    """The column, with a bitmap of its nulls."""
    bits = bytearray((len(keys) + 7) // 8)
    for i, key in enumerate(keys):
        bits[i // 8] |= (key is not None) << i % 8
    import ctypes

    column.valid = ctypes.create_string_buffer(bytes(bits), len(bits))
    column.pointers[0] = ctypes.addressof(column.valid)
    column.nulls = keys.count(None)
    return column


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


def sliced(keys):
    column = marked(text([b"before"] * 5 + filled(keys)), [b""] * 5 + keys)
    column.offset, column.length = 5, len(keys)
    return column


COLUMNS = {
    "text": lambda keys: marked(text(filled(keys)), keys),
    "large text": lambda keys: marked(text(filled(keys), b"Z"), keys),
    "views": lambda keys: marked(views(filled(keys)), keys),
    "null indices": null_indices,
    "null values": null_values,
    "slice": sliced,
    "chunks": in_chunks(lambda keys: marked(text(filled(keys)), keys)),
    "chunks of views": in_chunks(lambda keys: marked(views(filled(keys)), keys)),
    "numpy objects": lambda keys: np.array(keys, object),
    "numpy objects with NaN": lambda keys: np.array([float("nan") if k is None else k for k in keys], object),
}  # fmt: skip


def of_library(name):
    pa, pl, pd = (pytest.importorskip(library) for library in ("pyarrow", "polars", "pandas"))
    makers = {
        "pyarrow": lambda keys: pa.array(keys, pa.binary()),
        "pyarrow chunks": lambda keys: pa.chunked_array([keys[:100], [], keys[100:]], pa.binary()),
        "pyarrow string": lambda keys: pa.array(keys, pa.binary()).cast(pa.string()),
        "pyarrow dictionary": lambda keys: pa.array(keys, pa.binary()).dictionary_encode(),
        "polars": lambda keys: pl.Series(keys, dtype=pl.Binary),
        "polars categories": lambda keys: pl.Series(
            [k and k.decode() for k in keys], dtype=pl.Categorical
        ),
        "pandas": lambda keys: pd.Series([k and k.decode() for k in keys]),
        "pandas objects": lambda keys: pd.Series([k and k.decode() for k in keys], dtype=object),
        "pandas categories": lambda keys: pd.Series(
            [k and k.decode() for k in keys], dtype="category"
        ),
        "pandas NA": lambda keys: pd.Series([pd.NA if k is None else k for k in keys], dtype=object)
        .to_numpy(),
        "pandas index": lambda keys: pd.Index([k and k.decode() for k in keys], dtype=object),
    }  # fmt: skip
    return makers[name]


LIBRARIES = ["pyarrow", "pyarrow chunks", "pyarrow string", "pyarrow dictionary", "polars", "polars categories",
             "pandas", "pandas objects", "pandas categories", "pandas NA", "pandas index"]  # fmt: skip


def expected(keys, make=lambda: BloomFilter(n=10_000, p=0.001)):
    bf = make()
    return bf, bytes(key is not None and bf.add(key) for key in keys)


def check(make, keys, given=None):
    """Refused as a whole; with nulls="skip" the same answers as of its keys one by one."""
    given = keys if given is None else given
    bf = BloomFilter(n=10_000, p=0.001)
    for call in (bf.update, bf.add_many, bf.contains_many):
        with pytest.raises(TypeError, match="null") as fault:
            call(make(keys))
        assert fault.value.index == keys.index(None)
        assert str(fault.value).startswith(f"key {keys.index(None)}: ")
    assert not bf
    filter_, answers = expected(given)
    assert bf.contains_many(make(keys), nulls="skip") == bytes(len(keys))
    assert bf.add_many(make(keys), nulls="skip") == answers
    assert bf == filter_
    assert bf.contains_many(make(keys), nulls="skip") == bytes(key is not None for key in keys)
    assert bf.update(make(keys), nulls="skip") == 0
    again = BloomFilter(n=10_000, p=0.001)
    assert again.update(make(keys), nulls="skip") == sum(answers) and again == filter_


@pytest.mark.parametrize("kind", [*COLUMNS, *LIBRARIES])
@pytest.mark.parametrize("keys", [KEYS, LONG, [None, b"a"], [b"a"] * 2500 + [None]],
                         ids=["many", "long", "first", "after many"])  # fmt: skip
def test_every_kind_of_column(kind, keys):
    check(COLUMNS.get(kind) or of_library(kind), keys)


def test_numbers():
    check(numbers_column, KEYS, numbers(KEYS))
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    check(lambda keys: pa.array(numbers(keys)), KEYS, numbers(KEYS))
    check(lambda keys: pd.array(numbers(keys), dtype="Int64"), KEYS, numbers(KEYS))
    check(lambda keys: pd.Series(numbers(keys), dtype="Int64"), KEYS, numbers(KEYS))


def test_only_nulls(bf):
    pa = pytest.importorskip("pyarrow")
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
    assert bf.update((key for key in many), nulls="skip") == expected(many)[1].count(1)


def test_a_bad_key_among_nulls_is_named_by_its_row(bf):
    with pytest.raises(TypeError, match="^key 4: ") as fault:
        bf.update(np.array([None, "a", None, "b", 1.5, "c"], object), nulls="skip")
    assert fault.value.index == 4
    assert bf.contains_many(["a", "b", "c"]) == b"\1\1\0"
    indices = dictionary_of([0, 1, 0, 9], marked(text([b"x", b""]), [b"x", None]))
    with pytest.raises(ValueError, match="^key 3: "):
        bf.update(indices, nulls="skip")
    assert "x" in bf


def test_a_refused_key_of_the_core_is_named_by_its_row():
    bf = CountingBloomFilter(n=100, p=0.01)
    column = marked(text(filled([None, b"a", None, b"b"])), [None, b"a", None, b"b"])
    assert bf.add_many(column, nulls="skip") == b"\0\1\0\1"
    assert bf.count_many(column, nulls="skip") == b"\0\1\0\1"
    with pytest.raises(TypeError, match="^key 0: .*null"):
        bf.remove_many(column)
    assert bf.remove_many(column, nulls="skip") == b"\0\1\0\1"
    assert bf.count_many([b"a", b"b"]) == b"\0\0"


class OldFrame:
    """A table of pandas before it had the Arrow interface."""

    columns = ["a"]

    def __iter__(self):
        return iter(self.columns)

    def __array__(self, *_more):
        return np.array([["x"]], object)


def test_tables_are_not_columns(bf):
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    data = {"a": ["x", None]}
    for table in (pd.DataFrame(data), pa.table(data), OldFrame()):
        for nulls in ("raise", "skip"):
            with pytest.raises(TypeError, match="one column"):
                bf.update(table, nulls=nulls)
    assert not bf


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
