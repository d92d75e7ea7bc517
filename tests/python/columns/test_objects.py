"""A column of objects is the list of these objects: the same answers and the same errors, whatever
library has the column, and by whatever method."""

import datetime
import decimal
import pathlib
import uuid

import numpy as np
import pytest

from bloomfilter import BloomFilter, CountingBloomFilter

KEYS = {
    "text": ["a", "ß", "a" * 70],
    "bytes": [b"a", b"\xff"],
    "ints": [1, -5, 2**70],
    "mixed": ["a", b"b", 3, bytearray(b"d"), np.int8(5)],
}
NOT_KEYS = {
    "uuid": uuid.UUID(int=1),
    "path": pathlib.PurePosixPath("a"),
    "tuple": ("a", "b"),
    "float": 1.5,
    "list": ["a"],
    "bool": True,
    "date": datetime.date(2020, 1, 1),
    "decimal": decimal.Decimal(5),
    "array": np.array([1, 2]),
}


def in_array(keys):
    out = np.empty(len(keys), object)
    for i, key in enumerate(keys):
        out[i] = key
    return out


def in_pandas(make):
    def column(keys):
        return make(pytest.importorskip("pandas"), in_array(keys))

    return column


def in_polars(keys):
    pl = pytest.importorskip("polars")
    return pl.Series("keys", list(keys), dtype=pl.Object)


COLUMNS = {
    "list": list,
    "numpy": in_array,
    "numpy, a column of a table": lambda keys: in_array([keys, keys]) if not len(keys) else np.stack([in_array(keys)] * 2, 1)[:, 1],
    "masked": lambda keys: np.ma.masked_array(in_array(keys), False),
    "series": in_pandas(lambda pd, keys: pd.Series(keys, dtype=object)),
    "index": in_pandas(lambda pd, keys: pd.Index(keys, dtype=object)),
    "array": in_pandas(lambda pd, keys: pd.array(keys, dtype=object)),
    "column": in_pandas(lambda pd, keys: pd.DataFrame({"a": pd.Series(keys, dtype=object)})["a"]),
    "polars": in_polars,
}  # fmt: skip


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("keys", KEYS)
def test_keys(column, keys):
    make, keys = COLUMNS[column], KEYS[keys]
    one, bf = BloomFilter(n=100, p=1e-9), CountingBloomFilter(n=100, p=1e-9)
    expected = bytes(one.add(key) for key in keys)
    assert bf.add_many(make(keys)) == expected and bf.to_plain() == one
    assert bf.contains_many(make(keys)) == bf.count_many(make(keys)) == b"\1" * len(keys)
    assert bytes(bf.contains_mask(make(keys))) == b"\1" * len(keys)
    assert bf.update(make(keys)) == 0 and bf.remove_many(make(keys)) == b"\1" * len(keys)
    assert bf.rebuild(make(keys)) == len(keys) and bf.to_plain() == one


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("kind", NOT_KEYS)
def test_everything_else(column, kind):
    make, bad = COLUMNS[column], NOT_KEYS[kind]
    for keys in ([bad], ["a", bad], ["a", bad, "b"]):
        bf = CountingBloomFilter(n=100, p=1e-9)
        at = 0 if len(keys) == 1 else 1
        calls = [bf.update, bf.add_many, bf.contains_many, bf.add_mask, bf.contains_mask]
        for call in (*calls, bf.remove_many, bf.count_many):
            for nulls in ("raise", "skip"):
                with pytest.raises(TypeError, match=f"^key {at}: a key must be ") as fault:
                    call(make(keys), nulls=nulls)
                assert fault.value.index == at
        with pytest.raises(TypeError, match=f"^key {at}: "):
            bf.rebuild(make(keys))


def test_nulls_in_polars_objects():
    bf = BloomFilter(n=100, p=1e-9)
    with pytest.raises(TypeError, match="^key 1: .*null"):
        bf.update(in_polars(["a", None, "b"]))
    assert not bf
    assert bf.add_many(in_polars(["a", None, "b"]), nulls="skip") == b"\1\0\1"


# ---- Arrow ----
def extensions():
    pa = pytest.importorskip("pyarrow")
    yield pa.array([uuid.UUID(int=1).bytes], pa.uuid()) if hasattr(pa, "uuid") else None
    yield pa.array(['{"a": 1}'], pa.json_()) if hasattr(pa, "json_") else None
    yield pa.array([1], pa.bool8()) if hasattr(pa, "bool8") else None

    class Mine(pa.ExtensionType):
        def __init__(self):
            super().__init__(pa.int64(), "mine")

        def __arrow_ext_serialize__(self):
            return b"x"

        @classmethod
        def __arrow_ext_deserialize__(cls, storage, data):
            return cls()

    yield pa.ExtensionArray.from_storage(Mine(), pa.array([1, 2]))
    yield pa.chunked_array([pa.ExtensionArray.from_storage(Mine(), pa.array([1, 2]))])
    yield pytest.importorskip("pandas").Series(["2020-01"], dtype="period[M]")


def test_arrow_extension_types():
    """The storage of a type with a meaning of its own is no key by itself."""
    for column in extensions():
        bf = BloomFilter(n=100, p=1e-9)
        if column is not None:
            with pytest.raises(TypeError, match="^key 0: .*(extension type: .*storage|not Period)"):
                bf.update(column)
            assert not bf


class OldFrame:
    """A table of pandas before it had the Arrow interface."""

    columns = ["a"]

    def __iter__(self):
        return iter(self.columns)

    def __array__(self, *_more):
        return np.array([["x"]], object)


def tables():
    yield OldFrame()
    pa, pd, pl = (pytest.importorskip(name) for name in ("pyarrow", "pandas", "polars"))
    for rows in (["x"], []):
        data = {"a": rows, "b": rows}
        yield pa.table(data)
        yield pa.record_batch(data)
        yield pa.RecordBatchReader.from_batches(pa.table(data).schema, [pa.record_batch(data)])
        yield pa.array([{"a": "x"}] * len(rows), pa.struct([("a", pa.string())]))
        yield pd.DataFrame(data)
        yield pd.DataFrame(data, dtype=object)
        yield pd.DataFrame({"a": [uuid.UUID(int=1)] * len(rows)})
        yield pl.DataFrame(data)
        yield pl.DataFrame({"a": pl.Series(rows, dtype=pl.Object)})
        yield pl.Series([{"a": "x"}] * len(rows), dtype=pl.Struct({"a": pl.String}))


def test_tables():
    for table in tables():
        bf = CountingBloomFilter(n=100, p=1e-9)
        for call in (bf.update, bf.add_many, bf.contains_many, bf.remove_many, bf.rebuild):
            with pytest.raises(TypeError, match="keys must be one column, .*pass one of its col"):
                call(table)
        assert not bf


def test_a_list_of_what_arrow_can_guess():
    """Keys that Arrow would convert, but that are no keys in a list."""
    pd = pytest.importorskip("pandas")
    bf = BloomFilter(n=100, p=1e-9)
    for made in (pd.Series([1, 2.5], dtype=object), pd.Series([1, True], dtype=object)):
        with pytest.raises(TypeError, match="^key 1: "):
            bf.add_many(made)
    assert bf.contains_many(["1", "2"]) == b"\1\0"
