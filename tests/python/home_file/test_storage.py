"""Filters on a mapped file: one filter for every process, what survives, what is refused."""

import multiprocessing
import os
import pickle

import numpy as np
import pytest

from bloomfilter import BloomFilter, Error

pytestmark = pytest.mark.quick


@pytest.fixture
def path(tmp_path):
    return tmp_path / "seen.bloom"


def make(path, **kwargs):
    return BloomFilter(n=10_000, p=0.001, storage=path, **kwargs)


@pytest.mark.parametrize(
    "kind", [str, os.fsencode, lambda path: path], ids=["str", "bytes", "Path"]
)
def test_create_close_open(path, kind):
    with make(kind(path)) as bf:
        assert bf.storage == str(path) and repr(str(path)) in repr(bf)
        assert bf.update(range(1000)) > 990
        bf.sync()
        bits = bf.bitset
    with BloomFilter.open(kind(path)) as again:
        assert (again.n, again.p, again.bitset) == (10_000, 0.001, bits)
        assert again.contains_many(range(1000)) == b"\1" * 1000
    assert os.listdir(path.parent) == ["seen.bloom"]


def test_constructor_opens_what_exists_and_compares(path):
    with make(path) as bf:
        bf.add("a")
    with make(path) as bf:
        assert "a" in bf
    with BloomFilter(storage=path) as bf:
        assert "a" in bf
    with pytest.raises(Error):
        BloomFilter(storage=path, n=20_000, p=0.001)
    with BloomFilter.open(path, scheme="block", n=10_000) as bf:
        assert "a" in bf
    with pytest.raises(Error, match="classic"):
        BloomFilter.open(path, scheme="classic")


def test_read_only(path):
    with make(path) as bf:
        bf.add("a")
    with BloomFilter.open(path, read_only=True) as bf:
        assert "a" in bf and "b" not in bf
        for change in (
            lambda: bf.add("b"),
            lambda: bf.update(["b"]),
            lambda: bf.update(np.arange(5)),
            bf.clear,
            lambda: bf.__ior__(bf),
        ):
            with pytest.raises(Error, match="read-only"):
                change()
        with pickle.loads(pickle.dumps(bf)) as again, pytest.raises(Error, match="read-only"):
            again.add("b")
        assert bf.copy().add("b")


@pytest.mark.parametrize("name", ["http:odd", "redis:k", "file:f", "plain"])
def test_file_names_any_path(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with BloomFilter(1000, 10, storage=f"file:{name}") as bf:
        bf.add("a")
        assert os.listdir(tmp_path) == [name] and bf.storage == f"file:{name}"
        data = pickle.dumps(bf)
        monkeypatch.chdir("/")
        with pickle.loads(data) as again:
            assert "a" in again and again.storage == str(tmp_path / name)
    with BloomFilter.open(f"file:{tmp_path / name}") as bf:
        assert "a" in pickle.loads(pickle.dumps(bf))


def add_range(path, start, stop):
    with BloomFilter.open(path) as bf:
        bf.update(range(start, stop))


def add_to(bf, start, stop):
    bf.update(np.arange(start, stop))


def test_processes_lose_no_key(path):
    context = multiprocessing.get_context("fork")
    with BloomFilter(n=400_000, p=0.01, storage=path) as bf:
        jobs = [
            context.Process(target=add_range, args=(path, i * 50_000, (i + 1) * 50_000))
            for i in range(2)
        ]
        jobs += [
            context.Process(target=add_to, args=(bf, i * 50_000, (i + 1) * 50_000))
            for i in range(2, 4)
        ]
        for job in jobs:
            job.start()
        bf.update(range(200_000, 250_000))
        for job in jobs:
            job.join()
            assert job.exitcode == 0
        assert bf.contains_many(np.arange(250_000)) == b"\1" * 250_000


def test_a_file_cut_short_is_an_exception_at_the_next_batch(path):
    with make(path) as bf:
        bf.update(range(1000))
        os.truncate(path, 4096)
        for call in (lambda: bf.update(["a"]), lambda: bf.contains_many(["a"]), bf.sync):
            with pytest.raises((Error, OSError)):
                call()
    with pytest.raises(Error):
        BloomFilter.open(path)


@pytest.mark.parametrize("more", [{}, {"grow": 2}, {"window": 60}])
def test_is_current_shows_that_the_name_has_another_file(tmp_path, monkeypatch, more):
    path = tmp_path / "seen.bloom"
    monkeypatch.chdir(tmp_path)
    bf = BloomFilter(n=1000, p=0.01, storage="seen.bloom", **more)
    reader = BloomFilter.open(path, read_only=True)
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")  # the name is that of the folder where it was opened
    assert bf.is_current is reader.is_current is bf.copy().is_current is True
    bf.copy().save(tmp_path / "new")
    (tmp_path / "new").rename(path)
    assert bf.is_current is reader.is_current is False
    again = BloomFilter.open(path)
    assert again.is_current
    path.unlink()
    assert not again.is_current
    again.close()
    with pytest.raises(ValueError, match="closed"):
        again.is_current
    with pytest.raises(AttributeError):
        bf.is_current = True
