"""A real bloomfilterd for each test, on a port of its own, spoken to through raw sockets.

BLOOMFILTERD names the binary (default: out/bin/bloomfilterd); scripts/test names the one with
sanitizers.  Every daemon must end with 0 on SIGTERM and say nothing of errors."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import time

import pytest
from servers import PATIENCE

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLAIN = str(ROOT / "out/bin/bloomfilterd")  # for the tests marked plain_daemon
BINARY = os.path.abspath(os.environ.get("BLOOMFILTERD", PLAIN))
SANITIZED = b"__asan_init" in pathlib.Path(BINARY).read_bytes()
needs_redis = pytest.mark.skipif(not shutil.which("redis-server"), reason="no redis-server here")


class Reply:
    def __init__(self, line, headers, body):
        self.line, self.headers, self.body = line, headers, body
        self.status, self.reason = int(line.split(" ", 2)[1]), line.split(" ", 2)[2]

    def __repr__(self):
        return f"{self.line} {self.headers} {self.body[:200]!r}"


class Client:
    """A connection.  `reply` reads exactly one reply, `end` what is left until the server
    closes."""

    def __init__(self, port, host="127.0.0.1"):
        self.socket = socket.create_connection((host, port), timeout=PATIENCE)
        self.local = self.socket.getsockname()[1]
        self.left = b""

    def send(self, data):
        self.socket.sendall(data)
        return self

    def _more(self):
        data = self.socket.recv(1 << 16)
        if not data:
            raise EOFError(f"closed after {self.left[:200]!r}")
        self.left += data

    def reply(self, head=False):
        while b"\r\n\r\n" not in self.left:
            self._more()
        top, self.left = self.left.split(b"\r\n\r\n", 1)
        line, *rest = top.decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, value in (one.split(": ", 1) for one in rest)}
        length = 0 if head or line.split(" ")[1] == "100" else int(headers["content-length"])
        while len(self.left) < length:
            self._more()
        body, self.left = self.left[:length], self.left[length:]
        return Reply(line, headers, body)

    def ask(self, method, target, body=b"", **headers):
        headers = {
            "Host": "localhost",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        if body or method in ("POST", "PUT"):
            headers.setdefault("Content-Length", len(body))
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items()).encode("latin-1")
        target = target if isinstance(target, bytes) else target.encode()
        return self.send(
            method.encode() + b" " + target + b" HTTP/1.1\r\n" + lines + b"\r\n" + body
        ).reply(method == "HEAD")

    def get(self, target, **headers):
        return self.ask("GET", target, **headers)

    def end(self):
        data, self.left = self.left, b""
        try:
            while more := self.socket.recv(1 << 16):
                data += more
        except ConnectionResetError:
            pass
        return data

    def close(self):
        self.socket.close()


class Daemon:
    def __init__(self, folder, *args, env=None, prefix=(), binary=BINARY):
        self.errors = folder / f"stderr-{time.monotonic_ns()}"
        self.clients = []
        with open(self.errors, "wb") as errors:
            self.process = subprocess.Popen(
                [*prefix, binary, "--port", "0", *map(str, args)],
                stderr=errors,
                env=os.environ | (env or {}),
            )
        self.port = int(self._wait_for(r"listening on .* port (\d+)")[1])

    def _wait_for(self, pattern):
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            found = re.search(pattern, self.said())
            if found:
                return found
            assert self.process.poll() is None, self.said()
            time.sleep(0.005)
        raise AssertionError(f"no {pattern} in {self.said()}")

    def said(self):
        return self.errors.read_text(errors="replace")

    def says(self, text, times=1):
        """Waits until the text was printed so often: a thread of its own prints."""
        until = time.monotonic() + PATIENCE
        while self.said().count(text) < times:
            assert time.monotonic() < until, self.said()
            time.sleep(0.005)
        assert self.said().count(text) == times, self.said()

    def client(self):
        self.clients.append(Client(self.port))
        return self.clients[-1]

    def ask(self, *args, **headers):
        client = Client(self.port)
        try:
            return client.ask(*args, **headers)
        finally:
            client.close()

    def get(self, target, **headers):
        return self.ask("GET", target, **headers)

    def post(self, target, body, **headers):
        return self.ask("POST", target, body, **headers)

    def stats(self, name=None):
        return json.loads(self.get(f"/f/{name}/stats" if name else "/stats").body)

    def metric(self, name):
        """A number of /metrics without a label; None where there is no room for the report."""
        found = re.search(rf"(?m)^bloomfilter_{name} (\d+)$", self.get("/metrics").body.decode())
        return found and int(found[1])

    def resident(self):
        """Bytes of memory."""
        with open(f"/proc/{self.process.pid}/status") as status:
            return 1024 * int(re.search(r"VmRSS:\s+(\d+)", status.read())[1])

    def untouched(self):
        """Still answers, and no key was added."""
        stats = self.stats()
        return self.get("/healthz").body == b"ok" and stats["adds"] == stats["count"] == 0

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Ends as an operator ends it.  An exit code or a word from a sanitizer fails the test."""
        for client in self.clients:
            client.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(PATIENCE)
            finally:
                self.process.kill()
        assert self.process.returncode in (0, -signal.SIGKILL), (
            self.process.returncode,
            self.said(),
        )
        assert "Sanitizer" not in self.said() and "runtime error" not in self.said(), self.said()


@contextlib.contextmanager
def started(folder, binary=BINARY):
    """start(*args): a daemon, ended and checked at the end."""
    running = []

    def start(*args, **more):
        running.append(Daemon(folder, *args, binary=binary, **more))
        return running[-1]

    with contextlib.ExitStack() as stack:  # one that ends badly does not leave the others running
        stack.callback(lambda: [stack.callback(daemon.stop) for daemon in running])
        yield start


def until(done, seconds=PATIENCE):
    """Asks again and again; what came out at last."""
    end = time.monotonic() + seconds
    while not (got := done()):
        assert time.monotonic() < end, done
        time.sleep(0.01)
    return got


def until_status(status, ask):
    return until(lambda: got if (got := ask()).status == status else None)


def ended(*args, prefix=()):
    """(exit code, standard error) of a daemon that does not start."""
    command = [*prefix, BINARY, "--port", "0", *args]
    done = subprocess.run(
        [*map(str, command)], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    return done.returncode, done.stderr


def asks(text):
    """Of METHOD TARGET BODY, METHOD TARGET, ...: what Daemon.ask is given."""
    words = [(one.split() + [""])[:3] for one in text.split(",")]
    return [(method, target, body.encode()) for method, target, body in words]


def statuses(data):
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d\d\d) ", data)]


def flood(daemon, *pieces):
    """Sends for as long as the server takes it; what it answered."""
    client = daemon.client()
    try:
        for piece in pieces:
            client.send(piece)
        client.socket.shutdown(socket.SHUT_WR)
    except (BrokenPipeError, ConnectionResetError):
        pass
    return client.end()


def lines_of(keys):
    return b"".join((key if isinstance(key, bytes) else b"%d" % key) + b"\n" for key in keys)


def redis_url(port, key="app"):
    """Who waits for a Redis that hangs does so for longer than a test."""
    return f"redis://127.0.0.1:{port}/0?timeout=300&key={key}"


def redis_command(port, text):
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(text.encode() + b"\r\n")
        return connection.recv(1000)


def framed(keys):
    return b"".join(struct.pack("<I", len(key)) + key for key in keys)


FRAMED = {"Content_Type": "application/x-bloomfilter-keys"}
# From 9 on llhttp wants bytes past ASCII in a URL percent-encoded; Debian 12's 8 takes them as they
# are.
TAKES_RAW = (
    subprocess.run(["pkg-config", "--atleast-version=9", "libllhttp"], check=False).returncode != 0
)
