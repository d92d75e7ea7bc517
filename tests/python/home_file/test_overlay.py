"""Locks on overlayfs, the file system of containers: a map is of another file than the descriptor
there."""

import subprocess
import sys

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
MOUNTED = """mkdir lower upper work mounted
if mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work mounted; then cd mounted; fi
exec "$@" seen.bloom"""


def test_locks_hold_on_overlayfs(tmp_path):
    """Where nothing may be mounted, on the file system of the tests, which is that of a container."""
    command = [sys.executable, "-c", HOLDS]
    with_mount = ["unshare", "-m", "sh", "-c", MOUNTED, "sh", *command]
    if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        with_mount = [*command, "seen.bloom"]
    done = subprocess.run(with_mount, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
