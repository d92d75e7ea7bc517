"""What the tests of packages share: running commands, the program that looks at a build."""

import os
import shlex
import subprocess

from products import ROOT

FILTERS = ROOT / "tests" / "helpers" / "built_with.py"
JOBS = f"-j{os.cpu_count()}"


def run(*command, **options):
    """Standard output of a command that must succeed."""
    done = subprocess.run(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        text=True,
        **options,
    )
    assert done.returncode == 0, (
        f"exit {done.returncode} of {shlex.join(map(str, command))}\n{done.stdout}\n{done.stderr}"
    )
    return done.stdout
