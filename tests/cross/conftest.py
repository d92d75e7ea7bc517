"""What the cross-language tests share: the three sides, a Redis.

The products of scripts/build in out/ are what is tested."""

import servers
import pytest
import three_sides
from products import php_command


@pytest.fixture(scope="session")
def php():
    return php_command()


@pytest.fixture(scope="session")
def sides(tmp_path_factory):
    with three_sides.running(tmp_path_factory.mktemp("side")) as sides:
        yield sides


@pytest.fixture(scope="session")
def redis_port(tmp_path_factory):
    """A redis-server of the tests' own on a free port of 127.0.0.1."""
    with servers.running(tmp_path_factory.mktemp("redis")) as (port, _):
        yield port
