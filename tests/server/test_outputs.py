"""The access log and standard error, into pipes that nobody reads: text lines are lost and counted,
and nothing waits for them."""

import contextlib
import fcntl
import json
import os
import select
import signal
import socket
import subprocess

import pytest
from daemons import BINARY, PATIENCE, Client, until
from servers import free_port

SMALL = 4096  # bytes in a pipe
SIZES = ["-n", "1000", "-p", "0.01"]


def dropped(daemon):
    found = daemon.metric("log_lines_dropped_total")
    assert daemon.stats()["log_lines_dropped"] >= found
    return found


def read_until(reader, enough):
    """What comes out of a pipe until there is enough of it."""
    text = b""

    def read():
        nonlocal text
        with contextlib.suppress(BlockingIOError):
            text += os.read(reader, 1 << 16)
        return enough(text)

    until(read)
    return text


@pytest.fixture
def fifo(tmp_path):
    """(path, a descriptor that reads it)"""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, SMALL)
    yield path, reader
    os.close(reader)


def test_an_access_log_that_is_not_read(start, fifo):
    path, reader = fifo
    daemon = start("-n", 1000, "-p", 0.01, "--access-log", path, "--log-keys", "--threads", 2)
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
    client = daemon.client()
    for i in range(500):
        assert client.get(f"/add=k{i}").status == 200
    text = read_until(reader, lambda text: text.count(b"\n") >= 500)
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
    text = read_until(reader, lambda text: text.endswith(b"}\n"))
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


@contextlib.contextmanager
def started(*args, **more):
    """(process, port) of a daemon whose outputs are this test's."""
    port = free_port()
    with subprocess.Popen([BINARY, "--port", str(port), *SIZES, *args], **more) as process:
        try:
            yield process, port
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE) == 0
        finally:
            process.kill()


def test_standard_error_that_is_not_read():
    with full_pipe() as writer, started(stderr=writer) as (process, port):

        def connects():
            assert process.poll() is None
            with contextlib.suppress(ConnectionRefusedError):
                return Client(port)

        client = until(connects)
        for i in range(50):  # each is a warning on standard error
            assert client.ask("PUT", f"/f/x{i}?n=10&p=0.01").status == 201
            keys = b"%d\n" * 200 % (*range(200),)
            assert client.ask("POST", f"/f/x{i}/add", keys).status == 200
        client.close()


def test_standard_error_without_a_reader():
    """SIGPIPE does not end the daemon."""
    reader, writer = os.pipe()
    pipes = {"stderr": subprocess.PIPE, "stdout": writer}
    with started("--access-log", "/dev/stdout", **pipes) as (process, port):
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
