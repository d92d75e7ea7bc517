"""The access log and standard error, into pipes that nobody reads: text lines are lost and counted,
and nothing waits for them."""

import contextlib
import fcntl
import json
import os
import re
import select
import signal
import socket
import subprocess
import time

import pytest
from daemons import BINARY, PATIENCE, Client

SMALL = 4096  # bytes in a pipe


def until(condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def dropped(daemon):
    found = re.search(rb"bloomfilter_log_lines_dropped_total (\d+)", daemon.get("/metrics").body)
    assert daemon.stats()["log_lines_dropped"] >= int(found[1])
    return int(found[1])


@pytest.fixture
def fifo(tmp_path):
    """(path, a descriptor that reads it)"""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, SMALL)
    yield path, reader
    os.close(reader)


@pytest.mark.parametrize("threads", [1, 2])
def test_an_access_log_that_is_not_read(start, fifo, threads):
    path, reader = fifo
    daemon = start("-n", 1000, "-p", 0.01, "--access-log", path, "--log-keys", "--threads", threads)
    assert dropped(daemon) == 0
    client, asked = daemon.client(), 0
    long = "/contain=" + "%22" + '"' * 8000  # 48 KiB in the log
    while dropped(daemon) == 0:
        for _ in range(20):
            assert client.get(long).status == 200
            asked += 1
        assert asked < 2000
    daemon.says("cannot write to")
    assert daemon.get("/add=a").body == b"ok"
    daemon.process.send_signal(signal.SIGTERM)
    assert daemon.process.wait(PATIENCE) == 0
    text = b""
    with contextlib.suppress(BlockingIOError):
        while more := os.read(reader, 1 << 16):
            text += more
    *lines, _ = text.strip(b"\n").split(b"\n")  # of the last one there was no room for all
    for line in lines:
        assert json.loads(line)["status"] == 200


def test_an_access_log_that_is_read_late_has_every_line(start, fifo):
    path, reader = fifo
    daemon = start("-n", 1000, "-p", 0.01, "--access-log", path)
    client, text = daemon.client(), b""
    for i in range(500):
        assert client.get(f"/add=k{i}").status == 200

    def read():
        nonlocal text
        with contextlib.suppress(BlockingIOError):
            text += os.read(reader, 1 << 16)
        return text.count(b"\n") >= 500

    until(read)
    assert dropped(daemon) == 0
    assert [json.loads(line)["path"] for line in text.split(b"\n")[:500]] == ["/add"] * 500


def test_a_new_log_is_used_although_nobody_reads_the_old_one(start, fifo):
    path, _ = fifo
    daemon = start("-n", 1000, "-p", 0.01, "--access-log", path)
    client = daemon.client()
    for i in range(500):
        assert client.get(f"/add=k{i}").status == 200
    os.rename(path, f"{path}.1")
    daemon.process.send_signal(signal.SIGHUP)
    until(path.exists)
    until(lambda: daemon.get("/healthz").body == b"ok" and b"/healthz" in path.read_bytes())
    assert all(json.loads(line) for line in path.read_text().splitlines())


def test_lines_stay_readable_after_one_that_was_written_in_part(start, fifo):
    """The reader goes in the middle of a text line, and another one comes."""
    path, reader = fifo
    daemon = start("-n", 1000, "-p", 0.01, "--access-log", path, "--log-keys")
    client = daemon.client()
    assert client.get("/contain=" + '"' * 8000).status == 200  # 48 KiB, in a pipe of 4
    until(lambda: select.select([reader], [], [], 0)[0])
    os.dup2(nothing := os.open(os.devnull, os.O_RDONLY), reader)
    daemon.says("Broken pipe")
    os.dup2(again := os.open(path, os.O_RDONLY | os.O_NONBLOCK), reader)
    os.close(nothing), os.close(again)
    assert client.get("/contain=last").status == 200
    text = b""

    def read():
        nonlocal text
        with contextlib.suppress(BlockingIOError):
            text += os.read(reader, 1 << 16)
        return text.endswith(b"}\n")

    until(read)
    assert json.loads(text.splitlines()[-1])["path"] == "/contain=last"


@contextlib.contextmanager
def full_pipe():
    """A pipe in which there is no room, and whose reader does not read."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, SMALL)
    own = os.open(f"/proc/self/fd/{writer}", os.O_WRONLY | os.O_NONBLOCK)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(own, b"x" * SMALL)
    try:
        yield writer
        # other programs write to it too, and they may rely on waiting
        assert not fcntl.fcntl(writer, fcntl.F_GETFL) & os.O_NONBLOCK
    finally:
        for fd in (reader, writer, own):
            os.close(fd)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


def test_standard_error_that_is_not_read():
    port = free_port()
    command = [BINARY, "--port", str(port), "-n", "1000", "-p", "0.01"]
    with full_pipe() as writer, subprocess.Popen(command, stderr=writer) as process:
        try:

            def connects():
                assert process.poll() is None
                with contextlib.suppress(ConnectionRefusedError):
                    return Client(port)

            until(lambda: (client := connects()) and (client.close() or True))
            client = Client(port)
            for i in range(50):  # each is a warning on standard error
                assert client.ask("PUT", f"/f/x{i}?n=10&p=0.01").status == 201
                assert (
                    client.ask("POST", f"/f/x{i}/add", b"%d\n" * 200 % (*range(200),)).status == 200
                )
            client.close()
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()


def test_standard_error_without_a_reader(start, tmp_path):
    """SIGPIPE does not end the daemon."""
    reader, writer = os.pipe()
    port = free_port()
    command = [
        BINARY,
        "--port",
        str(port),
        "-n",
        "1000",
        "-p",
        "0.01",
        "--access-log",
        "/dev/stdout",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=writer) as process:
        try:
            os.close(writer)
            while b"listening" not in process.stderr.readline():
                pass
            process.stderr.close()
            os.close(reader)
            client = Client(port)
            for _ in range(10):
                assert client.get("/add=a").status == 200
                process.send_signal(signal.SIGHUP)
            client.close()
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_a_daemon_that_still_opens_its_filter_ends(sign):
    """No requests are served yet, so nothing is written to disk: the signal itself ends it."""
    with socket.create_server(("127.0.0.1", 0)) as redis:
        redis.settimeout(PATIENCE)
        url = f"redis://127.0.0.1:{redis.getsockname()[1]}/0?key=a&timeout=300"
        with subprocess.Popen([BINARY, "--port", "0", "--storage", url]) as process:
            try:
                connection, _ = redis.accept()
                connection.settimeout(PATIENCE)
                assert connection.recv(100)
                process.send_signal(sign)
                assert process.wait(PATIENCE) == -sign
            finally:
                process.kill()
