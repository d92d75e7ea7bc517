"""A Redis of the tests' own on a socket."""

import shutil
import tempfile
from pathlib import Path

import pytest
from servers import Server


@pytest.fixture(scope="session")
def redis_socket():
    if not shutil.which("redis-server"):
        pytest.skip("no redis-server here")
    with tempfile.TemporaryDirectory(prefix="bf-", dir="/tmp") as folder:  # messages cut long paths
        server = Server(Path(folder), "--unixsocket", f"{folder}/s")
        yield Path(folder, "s")
        server.stop()


@pytest.fixture
def redis_url(redis_socket, request):
    return f"unix://{redis_socket}?key={request.node.name.replace('[', '-').replace(']', '')}"
