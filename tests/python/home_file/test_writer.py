"""Who writes to a mapped file: `exclusive`, save() over a file that is open, files that others
replace or delete."""

import os
import subprocess
import sys

import pytest
from bloomfilter import BloomFilter, CountingBloomFilter, Error

KINDS = [
    (BloomFilter, {"n": 1000, "p": 0.01}),
    (CountingBloomFilter, {"n": 1000, "p": 0.01}),
    (BloomFilter, {"n": 100, "p": 0.01, "grow": 2.0}),
    (BloomFilter, {"n": 1000, "p": 0.01, "window": 1e9}),
]
kinds = pytest.mark.parametrize(("cls", "sizes"), KINDS)
OTHER = "import sys; from bloomfilter import {0}; f = {0}.open(sys.argv[1]); f.add('x')"


@kinds
def test_one_writer_and_readers(cls, sizes, tmp_path):
    path = str(tmp_path / "a.bloom")
    with cls(**sizes, storage=path, exclusive=True) as f:
        assert f.add("a") and f.update(["b", "c"]) == 2
        g = cls.open(path)
        assert "a" in g and "z" not in g
        for write in (lambda: g.add("x"), lambda: g.update(["x"]), g.clear):
            with pytest.raises(Error, match=rf"has an exclusive writer \(pid {os.getpid()}\)"):
                write()
        with pytest.raises(Error, match="exclusive writer"):
            cls.open(path, exclusive=True)
        other = subprocess.run(
            [sys.executable, "-c", OTHER.format(cls.__name__), path],
            capture_output=True,
            text=True,
            check=False,
        )
        assert f"exclusive writer (pid {os.getpid()})" in other.stderr
    assert g.add("x")
    with pytest.raises(Error, match=r"has a writer \(pid "):
        cls.open(path, exclusive=True)
    g.close()
    with cls.open(path, exclusive=True) as f:
        assert "x" in f and f.add("y")


def test_exclusive_is_for_files(tmp_path):
    for storage in (None, "redis://127.0.0.1:1/0?key=k"):
        with pytest.raises(ValueError, match="exclusive is for mapped files"):
            BloomFilter(n=10, p=0.1, storage=storage, exclusive=True)


def test_a_child_does_not_write(tmp_path):
    f = BloomFilter(n=1000, p=0.01, storage=str(tmp_path / "a"), exclusive=True)
    f.add("a")
    pid = os.fork()
    if pid == 0:
        try:
            f.add("b")
        except Error as e:
            os._exit(0 if "child" in str(e) and "a" in f else 2)
        os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0
    assert f.add("b")
    f.close()


def deleted(path):
    os.unlink(path)


def replaced(path):
    BloomFilter(n=10, p=0.1).save(path + ".new")
    os.replace(path + ".new", path)


@kinds
@pytest.mark.parametrize("goes", [deleted, replaced])
def test_no_key_is_acknowledged_without_a_name(cls, sizes, goes, tmp_path):
    path = str(tmp_path / "a.bloom")
    f = cls(**sizes, storage=path)
    f.update(["a"])

    def keys():
        yield from ("b", "c")
        goes(path)
        yield "d"

    for write in (lambda: f.update(keys()), lambda: f.update(["e"]), f.sync, lambda: f.add("f")):
        with pytest.raises(Error, match="was replaced or deleted"):
            write()
    assert "a" in f
    with pytest.raises(Error, match="was replaced or deleted"):
        f.close()
    f.close()
