"""A Redis of the tests' own on a socket."""

import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from bloomfilter import BloomFilter, Error


@pytest.fixture(scope="session")
def redis_socket():
    try:
        BloomFilter(m=10, k=1, storage="redis://127.0.0.1:1?key=x")
    except Error as error:
        pytest.skip(str(error))
    except OSError:
        pass
    if not shutil.which("redis-server"):
        pytest.skip("no redis-server here")
    folder = Path(tempfile.mkdtemp(prefix="bf-", dir="/tmp"))  # a socket's path is short
    command = ["redis-server", "--port", "0", "--save", "", "--unixsocket", folder / "s", "--dir"]
    server = subprocess.Popen([*command, folder], stdout=subprocess.DEVNULL)
    while not (folder / "s").exists():
        assert server.poll() is None
        time.sleep(0.01)
    yield folder / "s"
    server.terminate()
    server.wait()
    shutil.rmtree(folder)


@pytest.fixture
def redis_url(redis_socket, request):
    return f"unix://{redis_socket}?key={request.node.name.replace('[', '-').replace(']', '')}"
