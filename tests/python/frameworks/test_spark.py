"""Filters over Spark DataFrames, by a Spark of this machine with two workers (local[2])."""

import os
import re
import runpy
import shutil
import subprocess
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
N = 20_000


pytestmark = pytest.mark.filterwarnings("ignore:distutils Version classes:DeprecationWarning")


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    folder = tmp_path_factory.mktemp("spark")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["SPARK_TEST_MEET"] = str(tmp_path_factory.mktemp("meet"))
    options = {
        "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.sql.warehouse.dir": folder / "warehouse", "spark.local.dir": folder / "local",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "1000", "spark.ui.showConsoleProgress": "false", "spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "2",
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
    return session.createDataFrame(rows, "url string, raw binary, id long").repartition(5).cache()


@pytest.mark.parametrize(
    "size",
    [{"n": N, "p": 0.01}, {"m": 300_000, "n": N}, {"n": N, "p": 1e-6, "scheme": "classic"}],
    ids=str,
)
def test_the_filter_of_a_column_is_the_local_one(frame, size):
    local = BloomFilter(**size)
    local.update(urls(0, N))
    assert bloom.build(frame, "url", **size).to_bytes() == local.to_bytes()
    assert bloom.build(frame, col("raw"), **size) == local


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


def test_integers_are_their_text(frame):
    local = BloomFilter(n=N, p=0.01)
    local.update(range(N))
    assert (
        bloom.build(frame, "id", n=N, p=0.01)
        == local
        == bloom.build(frame, col("id").cast("string"), n=N, p=0.01)
    )


def test_a_filter_in_several_pieces(frame, monkeypatch):
    monkeypatch.setattr(bloom, "PIECE", 1000)
    data = BloomFilter(n=N, p=0.01).to_bytes()
    pieces = list(bloom.in_pieces(data))
    assert len(pieces) > 20 and b"".join(piece.column(0)[0].as_py() for piece in pieces) == data
    assert [piece.column(1)[0].as_py() for piece in pieces] == [False] * (len(pieces) - 1) + [True]
    monkeypatch.undo()
    large = {"m": 300_000_000, "k": 3}  # 37 MB: three pieces from each partition
    few = frame.limit(100).repartition(2)
    local = BloomFilter(**large)
    local.update(row.url for row in few.collect())
    assert bloom.build(few, "url", **large) == local


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
    known = bloom.contains(session, BloomFilter(n=100, p=0.01))
    assert empty.where(known("url")).count() == 0


def test_contains(session, frame):
    seen = BloomFilter(n=N, p=1e-6)
    seen.update(urls(0, N // 2))
    known = bloom.contains(session, seen)
    for column in ("url", col("url"), col("raw")):
        rows = frame.select("id", known(column).alias("known")).collect()
        assert len(rows) == N and all(row.known == (row.id < N // 2) for row in rows)
    seen.clear()
    seen.update(range(10))
    assert frame.where(bloom.contains(session, seen)(col("id").cast("string"))).count() == 10


def test_contains_keeps_nulls(session):
    frame = session.createDataFrame([("a",), (None,), ("b",), (None,)], "url string").coalesce(1)
    seen = BloomFilter(n=100, p=1e-6)
    seen.add("a")
    assert [row[0] for row in frame.select(bloom.contains(session, seen)("url")).collect()] == [
        True,
        None,
        False,
        None,
    ]


def test_contains_of_a_column_of_numbers_with_nulls_is_an_error_not_an_answer(session):
    frame = session.createDataFrame([(1,), (None,), (3,)], "id long").coalesce(1)
    seen = BloomFilter(n=100, p=1e-6)
    seen.update([1, 3])
    with pytest.raises(PythonException, match="TypeError: key 0: .*float"):
        frame.select(bloom.contains(session, seen)("id")).collect()


def test_contains_in(session, frame):
    seen = BloomFilter(n=N, p=1e-6)
    seen.update(urls(0, N // 2))
    rows = bloom.contains_in(frame, "url", seen).collect()
    assert len(rows) == N and all(
        row.seen is (row.id < N // 2) and row.raw == row.url.encode() for row in rows
    )
    numbers = BloomFilter(n=N, p=1e-6)
    numbers.update(range(10))
    assert bloom.contains_in(frame, "id", numbers, into="known").where("known").count() == 10
    with pytest.raises(ValueError, match="'url'.*into="):
        bloom.contains_in(frame, "id", numbers, into="url")


def test_stored_filters_are_sent_as_bits(session, frame, tmp_path):
    with BloomFilter(n=N, p=1e-6, storage=tmp_path / "seen.bloom") as seen:
        seen.update(urls(0, 10))
        known = bloom.contains(session, seen)
    (tmp_path / "seen.bloom").unlink()
    assert frame.where(known("url")).count() == 10


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
    frame = session.createDataFrame(
        [(f"u{i}" if i != 2500 else None,) for i in range(4000)], "url string"
    ).coalesce(1)
    with pytest.raises(
        PythonException, match="TypeError: after 2000 rows of this partition: key 500: .*null"
    ):
        bloom.build(frame, "url", n=100, p=0.01)
    with pytest.raises(PythonException, match="TypeError: .*null"):
        bloom.contains_in(frame, "url", BloomFilter(100, 10)).collect()
    for built in (
        bloom.build(frame.dropna(), "url", n=4000, p=0.01),
        bloom.build(frame, "url", nulls="skip", n=4000, p=0.01),
    ):
        assert built.contains_many(["u0", "u3999"]) == b"\1\1"
        rows = bloom.contains_in(frame, "url", built, nulls="skip").where("not seen").collect()
        assert [row.url for row in rows] == [None]


def test_other_types_are_errors(session):
    frame = session.createDataFrame([(1.5, True)], "a double, b boolean")
    for column in "ab":
        with pytest.raises(PythonException, match="TypeError: .*key 0: "):
            bloom.build(frame, column, n=100, p=0.01)


@pytest.mark.parametrize(
    "more",
    [{"storage": "x"}, {"secret": b"x" * 16}, {"window": 5}],
    ids=lambda more: next(iter(more)),
)
def test_parameters_that_make_no_sense_here(frame, more):
    with pytest.raises(TypeError, match=next(iter(more))):
        bloom.build(frame, "url", n=100, p=0.01, **more)
    with pytest.raises(ValueError, match="p must be"):
        bloom.build(frame, "url", n=100, p=2)


def test_keyed_filters_are_not_sent(session):
    with pytest.raises(Exception, match="secret"):
        bloom.contains(session, BloomFilter(n=100, p=0.01, secret=b"0123456789abcdef"))


PHP = ROOT / "out" / "php" / "bloomfilter.so"


@pytest.mark.skipif(
    not PHP.exists() or not shutil.which("php-config"), reason="the PHP extension is not built"
)
def test_php_opens_the_filter(frame, tmp_path):
    bloom.build(frame, "url", n=N, p=1e-6).save(tmp_path / "seen.bloom")
    php = subprocess.run(
        ["php-config", "--php-binary"], capture_output=True, text=True, check=True
    ).stdout.strip()
    code = f"$b = BloomFilter::load('{tmp_path}/seen.bloom'); echo $b->n, ' ', array_sum($b->existMany(['{urls(7, 1)[0]}', '{urls(N, 1)[0]}']));"
    done = subprocess.run(
        [php, "-n", "-d", f"extension={PHP}", "-r", code],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == f"{N} 1"


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
