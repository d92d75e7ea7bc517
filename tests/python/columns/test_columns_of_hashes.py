"""add_hashes and contains_hashes: each kind of column of hashes against the vectors and against a
set; nulls; what is refused; every home and kind of filter."""

import array
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from bloomfilter import BloomFilter

HASHES = [(i * 0x9E3779B97F4A7C15 + 1) % 2**64 for i in range(3000)] * 2
SIGNED = [h - 2**64 if h >> 63 else h for h in HASHES]
FIRST = [True] * 3000 + [False] * 3000
COLUMNS = {
    "numpy uint64": np.array(HASHES, "uint64"),
    "numpy int64": np.array(SIGNED, "int64"),
    "numpy big-endian": np.array(HASHES, ">u8"),
    "numpy stride": np.repeat(np.array(HASHES, "uint64"), 3)[::3],
    "numpy backwards": np.array(HASHES[::-1], "uint64")[::-1],
    "numpy not aligned": np.frombuffer(b"x" + np.array(HASHES, "<u8").tobytes(), "<u8", -1, 1),
    "array": array.array("Q", HASHES),
    "memoryview": memoryview(np.array(HASHES, "<u8").tobytes()).cast("Q"),
    "Arrow uint64": pa.array(HASHES, pa.uint64()),
    "Arrow int64": pa.array(SIGNED, pa.int64()),
    "Arrow slice": pa.array([7, *HASHES, 7], pa.uint64())[1:-1],
    "Arrow chunks": pa.chunked_array([pa.array(HASHES[:9], pa.uint64()), pa.array(HASHES[9:], pa.uint64())]),
    "pandas": pd.Series(HASHES, dtype="uint64"),
    "polars": pl.Series(HASHES, dtype=pl.UInt64),
}  # fmt: skip


def of_hashes(kind=BloomFilter, **more):
    return kind(n=10_000, p=1e-9, scheme="hashes64", **more)


@pytest.mark.parametrize("name", COLUMNS)
def test_every_column(name):
    column, bf = COLUMNS[name], of_hashes()
    assert bf.add_hashes_mask(column).tolist() == FIRST
    assert bf.add_hashes(column) == 0
    assert bf.contains_hashes(column) == b"\1" * 6000
    assert bf.contains_hashes_mask(column[:5]).tolist() == [True] * 5
    assert not any(bf.contains_hashes(np.arange(2, 1000)))
    twin = of_hashes()
    assert twin.add_hashes(COLUMNS["numpy uint64"]) == 3000 and twin == bf


def test_nulls():
    column = pa.array([1, None, 2**63, 1], pa.uint64())
    for empty in (column, pa.array([None])):
        with pytest.raises(TypeError) as fault:
            of_hashes().add_hashes(empty)
        assert fault.value.index == (empty is column)
    bf = of_hashes()
    assert bf.add_hashes_mask(column, nulls="skip").tolist() == [True, False, True, False]
    assert bf.contains_hashes(column, nulls="skip") == b"\1\0\1\1"
    assert bf.add_hashes(pa.array([None, None]), nulls="skip") == 0


REFUSED = [
    [1, 2], iter([1]), 5, b"12345678", memoryview(b"12345678"), np.array([1], "int32"), np.array([1.0]), np.array(["a"]),
    np.zeros((2, 2), "uint64"), np.ma.array([1, 2], mask=[0, 1]), pa.array([1], pa.int32()), pa.array(["a"]),
    pa.array([1]).dictionary_encode(), pa.table({"a": [1]}), pd.DataFrame({"a": [1]}), pd.Series(["a"]), None,
]  # fmt: skip


@pytest.mark.parametrize("wrong", REFUSED, ids=lambda wrong: type(wrong).__name__)
def test_what_is_no_column_of_hashes(wrong):
    bf = of_hashes()
    for call in (bf.add_hashes, bf.contains_hashes, bf.add_hashes_mask):
        with pytest.raises(TypeError):
            call(wrong)
    assert not bf


def test_rebuild_takes_a_filter_but_no_keys(tmp_path, redis_server):
    column, other = COLUMNS["numpy uint64"], of_hashes()
    other.add_hashes(column[:9])
    for storage in (None, tmp_path / "f.bloom", redis_server.url("rebuilt")):
        with of_hashes(storage=storage) as bf:
            bf.add_hashes(column)
            for keys in ([], iter(()), np.array([], "uint64"), ["key"]):
                with pytest.raises(ValueError):
                    bf.rebuild(keys)
            assert bf.contains_hashes(column) == b"\1" * 6000
            assert bf.rebuild(other) == 9 and bf.contains_hashes(column[:10]) == b"\1" * 9 + b"\0"


def test_hashes_and_keys_do_not_mix():
    """In every call: tests/c/test_schemes.c."""
    bf, keys = of_hashes(), np.array([1])
    for call in (lambda: bf.add("key"), lambda: bf.update(["key"]), lambda: bf.update(keys)):
        with pytest.raises(ValueError):
            call()
    for some in (COLUMNS["array"], pa.array([], pa.uint64())):
        with pytest.raises(ValueError):
            BloomFilter(n=100, p=0.01).add_hashes(some)


def test_nothing_is_kept():
    hashes, bf = COLUMNS["numpy uint64"].copy(), of_hashes()
    before = sys.getrefcount(hashes)
    hashes.flags.writeable = False
    bf.add_hashes(hashes)
    assert sys.getrefcount(hashes) == before
