"""A redis-server of a test's own for a with statement, on a free port of loopback."""

import contextlib
import shutil

from servers import Server, free_port

__all__ = ["free_port", "running"]


@contextlib.contextmanager
def running(folder, *options):
    """(port, process); the server keeps its files in a folder below."""
    assert shutil.which("redis-server"), "install redis-server"
    server = Server(folder / "redis", *options)
    try:
        yield server.port, server.process
    finally:
        server.stop()
