"""Locks on overlayfs, the file system of containers: a map is of another file than the descriptor
there."""

import subprocess
import sys

from bloomfilter import BloomFilter

HOLDS = """
import sys
from bloomfilter import BloomFilter, Error
path = sys.argv[1]
with BloomFilter(n=1000, p=0.01, storage=path) as bf:
    bf.add("x")
    assert bf.rebuild(["a", "b"]) == 2 and "a" in bf
with BloomFilter.open(path, exclusive=True) as alone, BloomFilter.open(path) as other:
    alone.add("q")
    try:
        other.add("z")
    except Error as error:
        assert "has an exclusive writer" in str(error)
    else:
        raise AssertionError("two writers")
with BloomFilter.open(path) as other:
    assert other.add("z") and "q" in other
"""
MOUNTED = """mkdir -p lower upper work mounted
if mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work mounted; then cd mounted; fi
exec "$@" seen.bloom"""


# A reader has the file of the lower layer open; then a writer's open copies it to the upper one.
READS = """
import os, sys
from bloomfilter import BloomFilter, Error
path = sys.argv[1]
if not os.path.exists(path):  # nothing could be mounted
    BloomFilter(n=1000, p=0.01, storage=path).close()
calls = [
    lambda f: f.contains_many(["k", "base"])[0],
    lambda f: f.sync() is None,
    lambda f: "k" in f.copy(),
    lambda f: len(f) > 0,
]
reader = BloomFilter.open(path, read_only=True)
with BloomFilter.open(path) as writer:
    writer.add("k")
    writer.sync()
    for call in calls:
        try:
            assert call(reader), "absent"
        except Error as error:
            assert "open it again" in str(error)
reader.close()
with BloomFilter.open(path, read_only=True) as again:
    assert "k" in again
"""


def run_mounted(program, folder):
    """Where nothing may be mounted, on the file system of the tests, which is that of a container."""
    command = [sys.executable, "-c", program]
    with_mount = ["unshare", "-m", "sh", "-c", MOUNTED, "sh", *command]
    if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        with_mount = [*command, "seen.bloom"]
    done = subprocess.run(with_mount, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_locks_hold_on_overlayfs(tmp_path):
    run_mounted(HOLDS, tmp_path)


def test_no_reader_misses_a_key_on_overlayfs(tmp_path):
    (tmp_path / "lower").mkdir()
    with BloomFilter(n=1000, p=0.01, storage=str(tmp_path / "lower" / "seen.bloom")) as bf:
        bf.add("base")
    run_mounted(READS, tmp_path)
