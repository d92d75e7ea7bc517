"""A daemon, and a Redis, for each test, and a daemon for all tests that leave nothing in it:
daemons.py says how they are started and must end."""

import servers
import pytest
from daemons import BINARY, PLAIN, needs_redis, redis_url, started


@pytest.fixture
def start(tmp_path, request):
    plain = request.node.get_closest_marker("plain_daemon")
    with started(tmp_path, PLAIN if plain else BINARY) as start:
        yield start


@pytest.fixture
def daemon(start):
    return start("-n", 100_000, "-p", 0.0001)


@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    with started(tmp_path_factory.mktemp("shared")) as start:
        yield start("-n", 100_000, "-p", 0.0001)


@pytest.fixture
def served(shared):
    """A daemon for tests that must not add a key to it."""
    yield shared
    while shared.clients:
        shared.clients.pop().close()
    assert shared.untouched()


@pytest.fixture
def redis(tmp_path):
    """(port, process) of a server of this test's own."""
    with servers.running(tmp_path) as server:
        yield server


HOMES = ["memory", "file", pytest.param("redis", marks=needs_redis)]


@pytest.fixture(params=HOMES)
def home(request, tmp_path):
    """(its name, the options of a daemon that keeps its filters there)"""
    if request.param == "memory":
        return "memory", []
    if request.param == "file":
        return "file", ["--storage", f"{tmp_path}/filters/", "--create"]
    return "redis", ["--storage", redis_url(request.getfixturevalue("redis")[0])]
