"""Python on Windows lacks some names: what runs here runs with those names taken away."""

import os
import select
import socket
import subprocess
import sys
from types import SimpleNamespace

from bloomfilter import BloomFilter
from bloomfilter._redis_asyncio import poll_of
from bloomfilter.cli import bench

WITHOUT = """
import os, select, signal, sys, tempfile
for module, names in {
    os: "O_CLOEXEC fchmod readv sysconf fork getuid", signal: "SIGALRM alarm pthread_sigmask SIGHUP", select: "poll epoll"
}.items():
    for name in names.split():
        delattr(module, name)
from bloomfilter.cli import main
sys.exit(main())
"""


def windows(*arguments, data=b""):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, *map(str, arguments)], input=data, capture_output=True
    )
    assert done.returncode in (0, 1) and done.stderr == b"", done.stderr.decode()
    return done.stdout


def test_keys(tmp_path):
    seen, keys = tmp_path / "seen.bloom", tmp_path / "keys"
    windows("create", seen, "-n", "1000000", "-p", "0.001")
    assert b"2" in windows("add", seen, data=b"a\nb\n")
    lines = b"".join(b"https://example.org/%d\n" % i for i in range(700_000))
    keys.write_bytes(lines)
    assert len(lines) > 16 << 20, "a thread reads it"
    windows("add", seen, keys)
    assert windows("check", "--print", "present", seen, data=b"a\nc\nb\n") == b"a\nb\n"
    with BloomFilter(storage=seen) as bf:
        assert "a" in bf and "b" in bf and "https://example.org/699999" in bf


def test_the_rest(tmp_path):
    seen, whole = tmp_path / "seen.bloom", tmp_path / "seen.json"
    windows("create", seen, "-n", "1000", "-p", "0.01")
    windows("rebuild", seen, data=b"a\nb\n")
    assert b"room for 998" in windows("info", seen)
    windows("convert", seen, whole)
    assert whole.stat().st_size


def test_cold_caches(monkeypatch):
    monkeypatch.delattr(os, "sysconf")
    monkeypatch.setattr(bench, "LARGEST_CACHE", 10)
    assert bench.evict()() == 0


def test_a_connection_is_looked_at(monkeypatch):
    monkeypatch.delattr(select, "poll")
    here, there = socket.socketpair()
    with here, there:
        writer = SimpleNamespace(get_extra_info={"socket": here}.get)
        connection = SimpleNamespace(_reader=SimpleNamespace(), _writer=writer)
        assert not poll_of(connection)(0)
        there.send(b"+")
        assert poll_of(connection)(0)
