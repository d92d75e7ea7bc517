"""A program that closes all descriptors, as libraries that make daemons do: the filters that it had
open leave the files alone that get their numbers."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os, sys
from bloomfilter import BloomFilter, CountingBloomFilter, Error
folder, sizes, exclusive = sys.argv[1], eval(sys.argv[2]), sys.argv[3] == "True"
cls = CountingBloomFilter if sizes.pop("counting", False) else BloomFilter
f = cls(**sizes, storage=folder + "/filter", exclusive=exclusive)
f.update(map(str, range(500)))
os.closerange(3, 50)
log = [os.open(folder + "/log", os.O_RDWR | os.O_CREAT, 0o600) for _ in range(40)]
os.write(log[0], b"line\\n" * 20000)
calls = [lambda: f.update(["x"]), f.to_bytes, f.copy, f.sync, f.clear, lambda: f == f.copy(), lambda: f | f]
calls += [lambda: f.save(folder + "/saved"), lambda: f.contains_many(["1"])]
if not {"grow", "window"} & set(sizes):
    calls.append(lambda: f.rebuild(["1", "2"]))
for call in calls:
    try:
        call()
    except Error as error:
        assert "the program closed its file descriptor: open the filter again" in str(error)
    else:
        raise AssertionError("no error")
assert "1" in f
with cls.open(folder + "/filter") as g:
    assert all(g.contains_many(map(str, range(500))))
    try:
        f.close()
    except Error as error:
        assert "the program closed its file descriptor" in str(error)
    del f
    assert g.contains_many(["1"]) == b"\\1" and g.update(["x"]) >= 0
for fd in log:
    os.fstat(fd)
"""


@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize(
    "sizes",
    [
        {"n": 1000, "p": 0.01},
        {"n": 1000, "p": 0.01, "counting": True},
        {"n": 100, "p": 0.01, "grow": 2.0},
        {"n": 1000, "p": 0.01, "window": 1e9},
    ],
)
def test_closed_descriptors(sizes, exclusive, tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path), repr(sizes), str(exclusive)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert (tmp_path / "log").read_bytes() == b"line\n" * 20000
    assert sorted(os.listdir(tmp_path)) == ["filter", "log"]
