"""What the tests of packages share: running commands, the program that looks at a build."""

import os

import products

FILTERS = products.ROOT / "tests" / "helpers" / "built_with.py"
JOBS = f"-j{os.cpu_count()}"


def run(*command, **options):
    """Standard output of a command that must succeed."""
    return products.run(command, text=True, **options)
