"""A redis-server of a test's own, on a free port of loopback, ended by its process."""

import contextlib
import shutil
import socket
import subprocess
import time

START = 30  # seconds: a server that does not answer by then never will


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextlib.contextmanager
def running(folder, *options):
    """(port, process); the server keeps its files in folder."""
    assert shutil.which("redis-server"), "install redis-server"
    port = free_port()
    where = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    process = subprocess.Popen(["redis-server", *where, *options], stdout=subprocess.DEVNULL)
    end = time.monotonic() + START
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 5).close()
                break
            except ConnectionError:
                assert process.poll() is None and time.monotonic() < end, "it does not answer"
                time.sleep(0.01)
        yield port, process
    finally:
        process.kill()
        process.wait()
