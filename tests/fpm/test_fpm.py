"""One mapped file under PHP-FPM behind nginx, PHP and Python at once: tests/fpm/run."""

import os
import subprocess
import sys
from pathlib import Path

from products import OUT, ROOT, php_command


def test_everything_at_once():
    """The program's lines are "ok ..." and "not ok ..."."""
    env = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PHP": php_command()[0],
    }
    command = [ROOT / "tests" / "fpm" / "run", OUT / "php" / "bloomfilter.so"]
    run = subprocess.run(
        command, env=env, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count("\nok ") > 20
