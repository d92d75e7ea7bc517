"""A daemon, and a Redis, for each test: daemons.py says how they are started and must end."""

import contextlib

import own_redis
import pytest
from daemons import BINARY, PLAIN, Daemon


@pytest.fixture
def start(tmp_path, request):
    """start(*args): a daemon, ended and checked with the test."""
    binary = PLAIN if request.node.get_closest_marker("plain_daemon") else BINARY
    running = []

    def start(*args, **more):
        running.append(Daemon(tmp_path, *args, binary=binary, **more))
        return running[-1]

    with contextlib.ExitStack() as stack:  # one that ends badly does not leave the others running
        stack.callback(lambda: [stack.callback(daemon.stop) for daemon in running])
        yield start


@pytest.fixture
def daemon(start):
    return start("-n", 100_000, "-p", 0.0001)


@pytest.fixture
def redis(tmp_path):
    """(port, process) of a server of this test's own."""
    with own_redis.running(tmp_path) as server:
        yield server
