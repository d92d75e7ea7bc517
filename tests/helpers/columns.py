"""Columns of text in each library, and what must hold of every column: the answers of its keys, added
and asked one by one.  Holds no test."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from one_by_one import check

__all__ = ["COLUMNS", "check"]


def numbers(words):
    return [int(word[20:]) for word in words]


# Of words like https://example.org/5, whose numbers those of numbers are.
COLUMNS = {
    "list": lambda words: words,
    "tuple": tuple,
    "generator": lambda words: (word for word in words),
    "bytes": lambda words: [word.encode() for word in words],
    "Arrow string": lambda words: pa.array(words, pa.string()),
    "Arrow large": lambda words: pa.array(words, pa.large_string()),
    "Arrow view": lambda words: pa.array(words, pa.string_view()),
    "Arrow chunks": lambda words: pa.chunked_array([words[:700], [], words[700:]], pa.string()),
    "Arrow dictionary": lambda words: pa.array(words, pa.string()).dictionary_encode(),
    "Arrow slice": lambda words: pa.array(["before", *words, "after"], pa.string())[1:-1],
    "Arrow numbers": lambda words: pa.array(numbers(words), pa.int64()),
    "numpy S": lambda words: np.array(words, "S"),
    "numpy U": lambda words: np.array(words, "U"),
    "numpy objects": lambda words: np.array(words, object),
    "numpy numbers": lambda words: np.array(numbers(words)),
    "pandas": pd.Series,
    "pandas objects": lambda words: pd.Series(words, dtype=object),
    "pandas categories": lambda words: pd.Series(words, dtype="category"),
    "pandas rows in another order": lambda words: pd.Series(words, range(len(words), 0, -1)),
    "pandas Arrow": lambda words: pd.Series(words, dtype="string[pyarrow]"),
    "pandas index": lambda words: pd.Index(words, dtype=object),
    "pandas numbers": lambda words: pd.Series(numbers(words)),
    "polars": lambda words: pl.Series(words, dtype=pl.String),
    "polars slice": lambda words: pl.Series(["before", *words, "after"])[1:-1],
    "polars chunks": lambda words: pl.concat([pl.Series(words[:9]), pl.Series(words[9:])], rechunk=False),
    "polars bytes": lambda words: pl.Series([word.encode() for word in words]),
    "polars numbers": lambda words: pl.Series(numbers(words)),
    "polars categories": lambda words: pl.Series(words, dtype=pl.Categorical),
}  # fmt: skip
