"""What the Python tests share: small filters, key lists, running a script in a process of its own,
a Redis."""

import contextlib
import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from servers import Cluster, Server

from bloomfilter import BloomFilter

# No test measures time, and under a sanitizer or on a busy machine everything takes long.
with contextlib.suppress(ImportError):
    from hypothesis import HealthCheck, settings

    settings.register_profile(
        "patient", deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
    settings.load_profile("patient")

# Tests send Ctrl-C to themselves.  Who is started in the background of a script has been told to
# ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The collector at every new object that it knows: up to Python 3.11 that is where finalizers run,
# from 3.12 on between instructions.
if os.environ.get("BLOOMFILTER_GC") == "1":
    gc.set_threshold(1)


def pytest_collection_finish():
    """What all test modules have imported is millions of objects; a test that collects looks at its
    own alone."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def bf():
    return BloomFilter(n=10_000, p=0.001)


@pytest.fixture
def run_python():
    """Runs code in a fresh interpreter; returns what it printed.  A crash or a hang is a failure of
    the test."""

    def run(code, timeout=60):
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        assert done.returncode == 0, f"exit {done.returncode}: {done.stderr}"
        return done.stdout.strip()

    return run


@pytest.fixture
def quick_folder():
    """In memory where that can be: many small filters are made there, each of which is synced."""
    with tempfile.TemporaryDirectory(
        dir="/dev/shm" if os.name != "nt" and os.access("/dev/shm", os.W_OK) else None
    ) as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def redis_server(tmp_path_factory):
    assert shutil.which("redis-server"), "install redis-server"
    server = Server(tmp_path_factory.mktemp("redis") / "server")
    yield server
    server.stop()


@pytest.fixture(scope="session")
def cluster_of_masters(tmp_path_factory):
    """Three nodes that lose nothing and fail over to nobody."""
    assert shutil.which("redis-cli"), "install redis-tools"
    cluster = Cluster(tmp_path_factory.mktemp("cluster"), masters=3, replicas=0)
    yield cluster
    cluster.stop()


@pytest.fixture(scope="module")
def redis_by_url(redis_server):
    """The same, for filters that are opened by URL."""
    return redis_server
