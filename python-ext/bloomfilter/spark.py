"""Bloom filters over Spark DataFrames: one built from a column by all executors, and one asked by
all of them.

    from bloomfilter import spark as bloom
    seen = bloom.build(old, "url", n=100_000_000, p=0.001)      # a BloomFilter, here on the driver
    known = bloom.contains(session, seen)                       # sent to each executor once
    new = urls.where(~known("url"))

Each partition fills a filter of its own, in Python, straight from Arrow's buffers; the driver
unites them one by one. docs/dataframes.md says more.  Knows PySpark; what a filter is, the rest of
the package knows."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal

try:
    import pandas
    import pyarrow
    from pyspark.sql.functions import col
    from pyspark.sql.pandas.functions import pandas_udf
except ImportError as error:
    raise ImportError(
        f"bloomfilter.spark needs pyspark, pyarrow and pandas: pip install 'bloomfilter-shared[spark]' ({error})"
    ) from error

from . import BloomFilter

if TYPE_CHECKING:
    from pyspark.broadcast import Broadcast
    from pyspark.sql import Column, DataFrame, SparkSession

__all__ = ["build", "contains", "contains_in"]

PIECE = 16 << 20  # bytes of a filter in one row: rows end at 2 GB, and Spark copies them whole


def build(
    df: "DataFrame",
    column: "str | Column",
    *,
    nulls: Literal["raise", "skip"] = "raise",
    **parameters: Any,
) -> BloomFilter:
    """The filter in memory of all keys of a column of strings, binaries or integers (as their
    decimal text).

    parameters are the constructor's m, n, k, p, scheme.  The bits are those of a filter filled by
    one process.  A null is a TypeError that names its place in its partition; nulls="skip" leaves
    nulls out.
    Each partition costs a filter's bytes of memory on an executor, and of network: coalesce() many
    small ones before."""
    whole = BloomFilter(**known(parameters))
    rows = (
        df.select(column)
        .mapInArrow(builder(parameters, nulls), "piece binary, last boolean")
        .persist()
    )
    try:
        # all partitions at once; the iterator below asks for one after another, and the driver
        # holds one
        rows.count()
        pieces: list[bytes] = []
        for piece, last in rows.toLocalIterator():
            pieces.append(bytes(piece))
            if last:
                whole |= BloomFilter.from_bytes(b"".join(pieces))
                pieces.clear()
    finally:
        rows.unpersist()
    return whole


def known(parameters: dict[str, Any]) -> dict[str, Any]:
    """Homes, secrets and variants stay where they are: what executors fill is memory, and what they
    send is bits."""
    if refused := sorted(parameters.keys() - {"m", "n", "k", "p", "scheme"}):
        raise TypeError(f"build() takes m, n, k, p and scheme, not {', '.join(refused)}")
    return parameters


def builder(
    parameters: dict[str, Any], nulls: Literal["raise", "skip"]
) -> Callable[[Iterator[pyarrow.RecordBatch]], Iterator[pyarrow.RecordBatch]]:
    def fill(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        seen = BloomFilter(**parameters)
        done = 0
        for batch in batches:
            try:
                seen.update(batch.column(0), nulls=nulls)
            except (TypeError, ValueError) as error:
                raise type(error)(f"after {done} rows of this partition: {error}") from None
            done += batch.num_rows
        yield from in_pieces(seen.to_bytes()) if done else ()

    return fill


def in_pieces(data: bytes) -> Iterator[pyarrow.RecordBatch]:
    for at in range(0, len(data), PIECE):
        last = at + PIECE >= len(data)
        yield pyarrow.record_batch(
            [pyarrow.array([data[at : at + PIECE]]), pyarrow.array([last])], names=["piece", "last"]
        )


def share(session: "SparkSession", seen: BloomFilter) -> "Broadcast[BloomFilter]":
    """Sends the bits once to each executor.  A worker opens them once and keeps them for all tasks
    it gets: that is what PySpark does with the value of a broadcast, and the value is the filter
    itself."""
    return session.sparkContext.broadcast(seen.copy() if seen.storage else seen)


def contains(session: "SparkSession", seen: BloomFilter) -> Callable[["str | Column"], "Column"]:
    """A function of a column of strings or binaries that gives a column of booleans: false = surely
    not in the filter.

    Null stays null.  Integers go as text, col("id").cast("string"): pandas would make floats of a
    column with nulls. What is added to the filter later is not seen.
    """
    shared = share(session, seen)

    def ask(keys: pandas.Series) -> pandas.Series:
        there = keys.notna()
        answers = pandas.Series([None] * len(keys), dtype=object)
        answers[there.to_numpy()] = [
            answer == 1 for answer in shared.value.contains_many(keys[there])
        ]
        return answers

    make: Any = pandas_udf  # its types know its older forms only
    udf = make(ask, returnType="boolean")
    return lambda column: udf(col(column) if isinstance(column, str) else column)


def contains_in(
    df: "DataFrame",
    column: str,
    seen: BloomFilter,
    into: str = "seen",
    *,
    nulls: Literal["raise", "skip"] = "raise",
) -> "DataFrame":
    """The DataFrame with one more column of booleans, for columns of strings, binaries or integers.
    A null is a TypeError; with nulls="skip" it is false, as it is no key of the filter.

    No pandas is involved and no Python object made for a key: the faster way where the rows go
    through Python anyhow."""
    from pyspark.sql.types import BooleanType, StructField, StructType

    shared = share(df.sparkSession, seen)

    def ask(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for batch in batches:
            answers = shared.value.contains_many(batch.column(column), nulls=nulls)
            yield pyarrow.record_batch(
                [*batch.columns, booleans(answers)], names=[*batch.schema.names, into]
            )

    if into in df.columns:
        raise ValueError(f"the DataFrame has a column {into!r} already: give another name as into=")
    return df.mapInArrow(
        ask, StructType([*df.schema.fields, StructField(into, BooleanType(), False)])
    )


def booleans(answers: bytes) -> pyarrow.Array:
    """One byte an answer, as Arrow's booleans."""
    return pyarrow.Array.from_buffers(
        pyarrow.uint8(), len(answers), [None, pyarrow.py_buffer(answers)]
    ).cast(pyarrow.bool_())
