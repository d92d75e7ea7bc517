"""A Redis of the tests' own on a socket."""

import shutil

import own_redis
import pytest


@pytest.fixture(scope="session")
def redis_socket(tmp_path_factory):
    if not shutil.which("redis-server"):
        pytest.skip("no redis-server here")
    folder = tmp_path_factory.mktemp("cli")
    with own_redis.running(folder):
        yield folder / "redis" / "socket"


@pytest.fixture
def redis_url(redis_socket, request):
    return f"unix://{redis_socket}?key={request.node.name.replace('[', '-').replace(']', '')}"
