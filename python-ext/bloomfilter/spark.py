"""Bloom filters over Spark DataFrames: all executors fill one filter from a column, or test a
column.

    from bloomfilter import spark as bloom
    seen = bloom.build(old, "url", n=100_000_000, p=0.001)      # a BloomFilter, here on the driver
    known = bloom.contains(session, seen)                       # sent to each executor once
    new = urls.where(~known("url"))

Each partition fills a filter from Arrow's buffers, and the driver unites the filters one by one.
docs/dataframes.md has the details."""

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

PIECE = 16 << 20  # bytes of a filter per row; a row has at most 2 GB, and Spark copies rows


def build(
    df: "DataFrame",
    column: "str | Column",
    *,
    nulls: Literal["raise", "skip"] = "raise",
    **parameters: Any,
) -> BloomFilter:
    """Returns a filter in memory with all keys of a column of strings, binaries or integers (as
    decimal text).

    parameters: m, n, k, p and scheme, as for BloomFilter().  The bits are the same as with one
    process. A null raises TypeError, with its row in the partition; nulls="skip" leaves nulls out.
    For each partition an executor allocates a complete filter and sends it to the driver, so use
    coalesce() if there are many small partitions."""
    whole = BloomFilter(**known(parameters))
    rows = (
        df.select(column)
        .mapInArrow(builder(parameters, nulls), "piece binary, last boolean")
        .persist()
    )
    try:
        # count() computes all partitions in parallel; toLocalIterator() would compute one by one
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
    """Refuses all other parameters, because executors fill filters in memory and send bits only."""
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
    """Broadcasts the filter: each executor gets the bits once, and a worker of PySpark unpickles
    them once for all its tasks."""
    return session.sparkContext.broadcast(seen.copy() if seen.storage else seen)


def contains(session: "SparkSession", seen: BloomFilter) -> Callable[["str | Column"], "Column"]:
    """Returns a function from a column of strings or binaries to a column of booleans: false =
    surely not in the filter.

    A null stays null.  Convert integers to text, col("id").cast("string"), because pandas converts
    integers to floats if there are nulls.  Keys that are added to the filter later are not found.
    """
    shared = share(session, seen)

    def ask(keys: pandas.Series) -> pandas.Series:
        there = keys.notna()
        answers = pandas.Series([None] * len(keys), dtype=object)
        answers[there.to_numpy()] = [
            answer == 1 for answer in shared.value.contains_many(keys[there])
        ]
        return answers

    make: Any = pandas_udf  # its type hints describe older forms only
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
    """Returns the DataFrame with one more column of booleans; for columns of strings, binaries or
    integers.  A null raises TypeError; with nulls="skip" its answer is false.

    Faster than contains() if the rows pass through Python anyway: needs no pandas, and creates no
    Python object per key."""
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
    """Converts answers, one byte each, to booleans of Arrow."""
    return pyarrow.Array.from_buffers(
        pyarrow.uint8(), len(answers), [None, pyarrow.py_buffer(answers)]
    ).cast(pyarrow.bool_())
