"""What the Python tests share: small filters, key lists, running a script in a process of its own."""

import contextlib
import subprocess
import sys

import pytest

from bloomfilter import BloomFilter

# No test measures time, and under a sanitizer or on a busy machine everything takes long.
with contextlib.suppress(ImportError):
    from hypothesis import HealthCheck, settings

    settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("patient")

SCHEMES = ["classic", "block", "block2"]


@pytest.fixture(params=SCHEMES)
def scheme(request):
    return request.param


@pytest.fixture
def bf():
    return BloomFilter(n=10_000, p=0.001)


@pytest.fixture
def run_python():
    """Runs code in a fresh interpreter; returns what it printed.  A crash or a hang is a failure of the test."""

    def run(code, timeout=60):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=timeout, check=False)
        assert done.returncode == 0, f"exit {done.returncode}: {done.stderr}"
        return done.stdout.strip()

    return run
