"""Filters over Spark DataFrames, by a Spark of this machine with two workers (local[2])."""

import os
import re
import runpy
import shutil
import sys
import textwrap
from pathlib import Path

import pytest

from bloomfilter import BloomFilter

pytest.importorskip("pyspark", reason="without pyspark")
if not shutil.which("java"):
    pytest.skip(
        "Spark needs Java, and there is none: install openjdk-17-jre-headless",
        allow_module_level=True,
    )

from pyspark.errors import PythonException  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402
from pyspark.sql.functions import col  # noqa: E402

from bloomfilter import spark as bloom  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
N = 2000


pytestmark = pytest.mark.filterwarnings("ignore:distutils Version classes:DeprecationWarning")


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spark")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["SPARK_TEST_MEET"] = str(tmp_path_factory.mktemp("meet"))
    options = {
        "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.sql.warehouse.dir": folder / "warehouse", "spark.local.dir": folder / "local",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "200", "spark.ui.showConsoleProgress": "false", "spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "2",
        "spark.sql.codegen.wholeStage": "false", "spark.sql.adaptive.enabled": "false", "spark.default.parallelism": "2",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # to compile well takes longer than it saves
    }  # fmt: skip
    builder = SparkSession.builder.master("local[2]").appName("test")
    for name, value in options.items():
        builder = builder.config(name, str(value))
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


def urls(start, n):
    return [f"https://example.org/é/{i}" for i in range(start, start + n)]


@pytest.fixture(scope="module")
def frame(session):
    rows = [(url, url.encode(), i) for i, url in enumerate(urls(0, N))]
    return session.createDataFrame(rows, "url string, raw binary, id long").repartition(3).cache()


def of(keys, **size):
    bf = BloomFilter(**size or {"n": N, "p": 1e-6})
    bf.update(keys)
    return bf


@pytest.mark.parametrize("size", [{"n": N, "p": 0.01}, {"m": 30_000, "n": N}], ids=str)
def test_the_filter_of_a_column_is_the_local_one(frame, size):
    assert bloom.build(frame, "url", **size).to_bytes() == of(urls(0, N), **size).to_bytes()
    assert bloom.build(frame, col("raw"), **size) == of(urls(0, N), **size)
    assert bloom.build(frame, "id", **size) == of(range(N), **size)


def test_the_recipe_of_the_page(session):
    """docs/dataframes.md, "Spark"."""
    text = (ROOT / "docs" / "dataframes.md").read_text()
    (recipe,) = re.findall(
        r"^((?:    .*\n)*    from bloomfilter import spark.*\n(?:    .*\n)*)", text, re.M
    )
    names = {
        "session": session,
        "old": session.createDataFrame([("/a",), ("/b",)], "url string"),
        "links": session.createDataFrame([("/b",), ("/c",)], "url string"),
    }
    exec(textwrap.dedent(recipe).replace("100_000_000", str(N)), names)
    assert [row.url for row in names["fresh"].collect()] == ["/c"]


def test_a_filter_in_several_pieces(frame, monkeypatch):
    monkeypatch.setattr(bloom, "PIECE", 1000)
    data = BloomFilter(n=20_000, p=0.01).to_bytes()
    pieces = list(bloom.in_pieces(data))
    assert len(pieces) > 20 and b"".join(piece.column(0)[0].as_py() for piece in pieces) == data
    assert [piece.column(1)[0].as_py() for piece in pieces] == [False] * (len(pieces) - 1) + [True]
    monkeypatch.undo()
    large = {"m": 150_000_000, "k": 3}  # 19 MB: two pieces from each partition
    few = frame.limit(100).repartition(2)
    assert bloom.build(few, "url", **large) == of((row.url for row in few.collect()), **large)


def test_partitions_are_built_at_once(session):
    """Two partitions that wait for each other, each in a worker of its own."""
    two = session.range(0, 2, 1, numPartitions=2)
    folder = os.environ["SPARK_TEST_MEET"]

    def meet(batches):
        import time
        import uuid

        Path(folder, uuid.uuid4().hex).touch()
        for _ in range(1000):
            if len(os.listdir(folder)) >= 2:
                break
            time.sleep(0.05)
        else:
            raise AssertionError("alone")
        yield from batches

    assert len(bloom.build(two.mapInArrow(meet, "id long"), "id", n=100, p=0.01)) == 2


def test_empty_frames(session):
    empty = session.createDataFrame([], "url string")
    assert not bloom.build(empty, "url", n=100, p=0.01)
    assert empty.where(bloom.contains(session, BloomFilter(n=100, p=0.01))("url")).count() == 0


def test_contains(session, frame, tmp_path):
    """The bits are sent, also of a filter in a file."""
    with BloomFilter(n=N, p=1e-6, storage=tmp_path / "seen.bloom") as seen:
        seen.update(urls(0, N // 2))
        known = bloom.contains(session, seen)
    (tmp_path / "seen.bloom").unlink()
    text, raw = known("url").alias("text"), known(col("raw")).alias("raw")
    rows = frame.select("id", text, raw).collect()
    assert len(rows) == N and all(row.text == row.raw == (row.id < N // 2) for row in rows)
    some = session.createDataFrame([(urls(0, 1)[0],), (None,), ("b",)], "url string").coalesce(1)
    assert [row[0] for row in some.select(known("url")).collect()] == [True, None, False]
    ids = bloom.contains(session, of(range(10)))
    assert frame.where(ids(col("id").cast("string"))).count() == 10
    numbers = session.createDataFrame([(1,), (None,)], "id long").coalesce(1)
    with pytest.raises(PythonException, match="TypeError: key 0: .*float"):
        numbers.select(ids("id")).collect()


def test_contains_in(frame):
    rows = bloom.contains_in(frame, "url", of(urls(0, N // 2))).collect()
    assert len(rows) == N and all(
        row.seen is (row.id < N // 2) and row.raw == row.url.encode() for row in rows
    )
    numbers = of(range(10))
    assert bloom.contains_in(frame, "id", numbers, into="known").where("known").count() == 10
    with pytest.raises(ValueError, match="'url'.*into="):
        bloom.contains_in(frame, "id", numbers, into="url")


def test_a_worker_opens_the_filter_once(session, frame):
    """The value of a broadcast is kept by the worker: the same object in all of its tasks."""
    shared = bloom.share(session, BloomFilter(n=100, p=0.01))

    def where(batches):
        import pyarrow

        for batch in batches:
            told = f"{os.getpid()} {id(shared.value)}"
            yield pyarrow.record_batch([pyarrow.array([told] * batch.num_rows)], names=["told"])

    told = {
        row.told
        for _ in range(3)
        for row in frame.select("id").mapInArrow(where, "told string").distinct().collect()
    }
    assert len(told) == len({each.split()[0] for each in told}) <= 4


def test_a_null_is_an_error_that_names_its_row(session):
    rows = [(f"u{i}" if i != 500 else None,) for i in range(800)]
    frame = session.createDataFrame(rows, "url string").coalesce(1)
    after = "TypeError: after 400 rows of this partition: key 100: .*null"
    with pytest.raises(PythonException, match=after):
        bloom.build(frame, "url", n=100, p=0.01)
    with pytest.raises(PythonException, match="TypeError: .*null"):
        bloom.contains_in(frame, "url", BloomFilter(100, 10)).collect()
    built = bloom.build(frame, "url", nulls="skip", n=4000, p=0.01)
    assert built == of((row[0] for row in rows if row[0]), n=4000, p=0.01)
    rows = bloom.contains_in(frame, "url", built, nulls="skip").where("not seen").collect()
    assert [row.url for row in rows] == [None]


def test_what_is_refused(session, frame):
    floats = session.createDataFrame([(1.5,)], "a double")
    with pytest.raises(PythonException, match="TypeError: .*key 0: "):
        bloom.build(floats, "a", n=100, p=0.01)
    for name, value in {"storage": "x", "secret": b"x" * 16, "window": 5}.items():
        with pytest.raises(TypeError, match=name):
            bloom.build(frame, "url", n=100, p=0.01, **{name: value})
    with pytest.raises(ValueError, match="p must be"):
        bloom.build(frame, "url", n=100, p=2)
    with pytest.raises(Exception, match="secret"):
        bloom.contains(session, BloomFilter(n=100, p=0.01, secret=b"0123456789abcdef"))


EXAMPLE = ROOT / "examples" / "spark_dedup.py"


@pytest.mark.skipif(not EXAMPLE.exists(), reason="without the examples")
def test_the_example(session, tmp_path, monkeypatch, capsys):
    (tmp_path / "old.txt").write_text("".join(f"line {i}\n" for i in range(2000)))
    (tmp_path / "new.txt").write_text("".join(f"line {i}\n" for i in range(1500, 3000)))
    command = [EXAMPLE, "--master", "local[2]", "--old", tmp_path / "old.txt", "--new", tmp_path / "new.txt", "--out", tmp_path / "out",
               "-n", "2000", "-p", "1e-6", "--filter", tmp_path / "seen.bloom"]  # fmt: skip
    monkeypatch.setattr(sys, "argv", [str(word) for word in command])
    monkeypatch.setattr(SparkSession, "stop", lambda session: None)  # this one's: no second JVM
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    lines = [
        line for part in (tmp_path / "out").glob("part-*") for line in part.read_text().splitlines()
    ]
    assert sorted(lines) == sorted(f"line {i}" for i in range(2000, 3000))
    assert (
        "line 1999" in BloomFilter.open(tmp_path / "seen.bloom")
        and "1000 fresh ones" in capsys.readouterr().out
    )
