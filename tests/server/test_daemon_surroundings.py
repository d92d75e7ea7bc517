"""The daemon in a process that lacks what others have: descriptors, the standard ones, room for
files."""

import os
import resource
import time

import pytest
from bloomfilter import BloomFilter
from daemons import ended


def descriptors(daemon):
    folder = f"/proc/{daemon.process.pid}/fd"
    return {int(name): os.readlink(f"{folder}/{name}") for name in os.listdir(folder)}


def ticks(daemon):
    """CPU time: of the process, not of the machine."""
    with open(f"/proc/{daemon.process.pid}/stat") as stat:
        user, system = stat.read().rsplit(")", 1)[1].split()[11:13]
    return int(user) + int(system)


@pytest.mark.parametrize("threads", [1, 2])
def test_no_descriptors_are_left(start, threads):
    daemon = start("-n", 1000, "-p", 0.01, "--threads", threads)
    known = daemon.client()
    assert known.ask("GET", "/add=a").body == b"ok"
    pid, hard = daemon.process.pid, resource.prlimit(daemon.process.pid, resource.RLIMIT_NOFILE)[1]
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (max(descriptors(daemon)) + 1, hard))
    waiting = [daemon.client().send(b"GET /contain=a HTTP/1.1\r\n\r\n") for _ in range(3)]
    before = ticks(daemon)
    time.sleep(1)
    used = (ticks(daemon) - before) / os.sysconf("SC_CLK_TCK")
    assert used < 0.1, f"{used} of a second of CPU for nothing"
    assert known.ask("GET", "/contain=a").body == b"true"  # who is there already is served
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (hard, hard))
    for client in waiting:
        assert client.reply().body == b"true"


@pytest.mark.parametrize(("limit", "connections"), [(40, 20), (128, 64), (200, 136)])
def test_the_limit_on_open_files_bounds_connections(start, limit, connections):
    daemon = start("-n", 1000, "-p", 0.01, prefix=["prlimit", f"--nofile={limit}:{limit}"])
    assert f"{connections} connections at most" in daemon.said()
    clients = [daemon.client() for _ in range(connections)]
    for client in clients:
        assert client.ask("GET", "/add=a").status == 200
    assert daemon.client().reply().status == 503
    clients[0].close()
    while daemon.get("/healthz").status != 200:
        pass


def test_without_standard_descriptors(start, tmp_path):
    """Nothing that is printed may end in a socket or in the filter."""
    path = tmp_path / "seen.bloom"
    daemon = start(
        "-n", 1000, "-p", 0.01, "--storage", path, prefix=["sh", "-c", 'exec "$@" <&- >&-', "sh"]
    )
    there = descriptors(daemon)
    assert (there[0], there[1]) == ("/dev/null", "/dev/null")
    assert daemon.get("/add=a").body == b"ok"
    with BloomFilter.open(str(path)) as python:
        assert "a" in python


def test_no_file_larger_than_the_limit(tmp_path):
    path = tmp_path / "seen.bloom"
    options = ["-n", 1_000_000, "-p", 0.01, "--storage", path]
    code, said = ended(*options, prefix=["prlimit", "--fsize=65536"])
    assert code == 1 and said.endswith("seen.bloom: File too large\n")
    assert "bloomfilterd: the filter: cannot allocate space for " in said
    assert os.listdir(tmp_path) == []


def test_an_access_log_that_nobody_reads(tmp_path):
    """It is not waited for: a daemon that hangs at its start does not even end on SIGTERM."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    told = ended("-n", 1000, "-p", 0.01, "--access-log", pipe)
    assert told == (1, f"bloomfilterd: {pipe}: No such device or address\n")


@pytest.mark.parametrize(
    ("log", "limit", "why"),
    [("log", ["prlimit", "--fsize=1000"], "large"), ("/dev/full", (), "No space left on device")],
)
def test_an_access_log_without_room_is_told_once(start, tmp_path, log, limit, why):
    log = tmp_path / log
    daemon = start("-n", 1000, "-p", 0.01, "--access-log", log, prefix=limit)
    for i in range(30):
        assert daemon.get(f"/add=k{i}").body == b"ok"
    daemon.stop()
    assert daemon.process.returncode == 0 and log.stat().st_size <= 1000
    assert daemon.said().count("cannot write") == 1 and why in daemon.said()
