"""One mapped file under PHP-FPM behind nginx, Python and C at once: tests/fpm/run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from products import OUT, ROOT, php_command


@pytest.fixture(scope="module")
def run():
    """The program, once: its lines "ok ..." and "not ok ..."."""
    env = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PHP": php_command()[0],
    }
    command = [ROOT / "tests" / "fpm" / "run", OUT / "php" / "bloomfilter.so"]
    return subprocess.run(
        command, env=env, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


def test_everything_at_once(run):
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count("\nok ") > 30


def test_full_and_read_only_disks(run):
    if "skip full and read-only disks: " in run.stdout:
        pytest.skip("no right to mount")
    assert run.returncode == 0
