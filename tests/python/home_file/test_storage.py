"""Filters on a mapped file: one filter for every process, what survives, what is refused."""

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


def test_one_writer(path):
    with make(path, exclusive=True) as bf, BloomFilter.open(path) as other:
        assert bf.add("a") and "a" in other
        for write in (lambda: other.add("x"), lambda: other.update(["x"]), other.clear):
            with pytest.raises(Error, match=rf"has an exclusive writer \(pid {os.getpid()}\)"):
                write()
        with pytest.raises(Error, match="exclusive writer"):
            BloomFilter.open(path, exclusive=True)
    for storage in (None, "redis://127.0.0.1:1/0?key=k"):
        with pytest.raises(ValueError, match="exclusive is for mapped files"):
            BloomFilter(n=10, p=0.1, storage=storage, exclusive=True)
