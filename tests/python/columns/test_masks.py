"""add_mask, contains_mask: the answers of add_many and contains_many as booleans, for each kind of
column and in each data frame, against a set of keys; nulls; without numpy."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from columns import COLUMNS, check

from bloomfilter import BloomFilter

WORDS = [f"https://example.org/{i * 7 % 500}" for i in range(3000)]
KNOWN = set(WORDS[:200])


def first_times(keys):
    """The oracle: is each key seen for the first time?"""
    seen = set()
    return [key not in seen and not seen.add(key) for key in keys]


def is_a_mask(mask, length):
    view = memoryview(mask)
    assert (view.format, view.ndim, len(view), view.readonly) == ("?", 1, length, True)
    assert type(mask) is np.ndarray and mask.dtype == bool
    assert isinstance(mask.base, bytes), "a copy"


@pytest.mark.parametrize("name", COLUMNS)
def test_every_column(name):
    keys = [int(word[20:]) for word in WORDS] if "numbers" in name else WORDS
    check(lambda: COLUMNS[name](WORDS), keys)


@pytest.mark.parametrize("length", [0, 1, 64, 65, 1024, 1025, 70_000])
def test_every_length(length):
    keys = [i % 50_000 for i in range(length)]
    for make in (list, iter, np.array if length else list, pa.array):
        bf = BloomFilter(n=100_000, p=1e-9)
        if make is pa.array and not length:
            make = lambda _: pa.array([], pa.int64())  # noqa: E731
        is_a_mask(mask := bf.add_mask(make(keys)), length)
        assert mask.tolist() == first_times(keys)
        assert bf.contains_mask(make(keys)).all() and not bf.contains_mask(["x"]).any()


@pytest.fixture
def known():
    bf = BloomFilter(n=10_000, p=1e-9)
    bf.update(KNOWN)
    return bf


def test_pandas(known):
    df = pd.DataFrame({"url": WORDS, "row": range(3000)}, index=range(3000, 0, -1))
    absent = [i for i, word in enumerate(WORDS) if word not in KNOWN]
    assert df[~known.contains_mask(df["url"])]["row"].tolist() == absent
    assert df.loc[~known.contains_mask(df["url"]), "row"].tolist() == absent
    assert (df["url"][known.contains_mask(df["url"])]).isin(KNOWN).all()
    df["new"] = known.add_mask(df["url"])
    assert df["new"].dtype == bool
    first = [i for i, new in enumerate(first_times([*KNOWN, *WORDS])[len(KNOWN) :]) if new]
    assert df[df["new"]]["row"].tolist() == first


def test_polars(known):
    df = pl.DataFrame({"url": WORDS, "row": range(3000)})
    absent = [i for i, word in enumerate(WORDS) if word not in KNOWN]
    assert df.filter(~known.contains_mask(df["url"]))["row"].to_list() == absent
    assert df.with_columns(known=known.contains_mask(df["url"]))["known"].dtype == pl.Boolean
    first = first_times([*KNOWN, *WORDS])[len(KNOWN) :]
    assert df.filter(known.add_mask(df["url"]))["row"].to_list() == list(
        itertools.compress(range(3000), first)
    )


def test_refused(bf):
    for call in (bf.add_mask, bf.contains_mask):
        for wrong in ("text", b"bytes", pa.table({"url": WORDS}), pd.DataFrame({"url": WORDS}), 5):
            with pytest.raises(TypeError):
                call(wrong)
        for keys in (["a", 1.5], pa.array(["a", None])):
            with pytest.raises(TypeError, match="key 1: ") as fault:
                call(keys)
            assert fault.value.index == 1
        with pytest.raises(ValueError, match="nulls must be"):
            call(["a"], nulls="drop")
        with pytest.raises(TypeError, match=f"{call.__name__}\\(\\) takes exactly one"):
            call()
    assert bf.add_mask(pa.array(["n", None, "n"]), nulls="skip").tolist() == [True, False, False]
    assert "a" in bf  # the key before the wrong one was added
    bf.close()
    with pytest.raises(ValueError, match="closed"):
        bf.contains_mask(["a"])


def test_without_numpy(run_python):
    """A view of the same bytes."""
    code = """
import sys
sys.modules["numpy"] = None
from bloomfilter import BloomFilter
bf = BloomFilter(n=100, p=1e-9)
for keys in ([], ["a"], ["a", "b", "a"]):
    for mask in (bf.add_mask(keys), bf.contains_mask(keys)):
        assert type(mask) is memoryview and mask.format == "?" and mask.readonly
        print(mask.tolist())
import polars as pl
df = pl.DataFrame({"key": ["a", "x"]})
mask = bf.contains_mask(df["key"])
assert df.filter(mask)["key"].to_list() == ["a"]
assert df.filter(~pl.Series(mask))["key"].to_list() == ["x"]
"""
    answers = ["[]", "[]", "[True]", "[True]", "[False, True, False]", "[True, True, True]"]
    assert run_python(code).splitlines() == answers
