"""What the cross-language tests share: the three sides, a Redis.

The products of scripts/build in out/ are what is tested."""

import sys
from pathlib import Path

import own_redis
import pytest
from products import compile_c, php_command

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="session")
def php():
    return php_command()


@pytest.fixture(scope="session")
def sides(tmp_path_factory):
    """The three programs: what to run for each."""
    program = compile_c(HERE / "side.c", tmp_path_factory.mktemp("side") / "side")
    return {
        "c": [program],
        "php": [*php_command(), HERE / "side.php"],
        "py": [sys.executable, HERE / "side.py"],
    }


@pytest.fixture(scope="session")
def redis_port(tmp_path_factory):
    """A redis-server of the tests' own on a free port of 127.0.0.1."""
    with own_redis.running(tmp_path_factory.mktemp("redis")) as (port, _):
        yield port
