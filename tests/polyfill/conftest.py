"""Which PHP runs, and what it loads: with the extension, or with the polyfill in its place."""

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "helpers")]

import products  # noqa: E402

PREDIS = Path("/usr/share/php/Predis/autoload.php")


@pytest.fixture(scope="session")
def php():
    return products.php_command()[0]


@pytest.fixture(scope="session")
def phpredis(php):
    """Options that load it: Debian's needs igbinary."""
    loads = ["-d", "extension=igbinary.so", "-d", "extension=redis.so"]
    code = "echo (int) class_exists('Redis', false);"
    assert (
        subprocess.run(
            [php, "-n", *loads, "-r", code], capture_output=True, text=True, check=True
        ).stdout
        == "1"
    )
    return loads


@pytest.fixture(scope="session")
def with_extension(php, phpredis):
    return [*products.php_command(), *phpredis, "-d", "bloomfilter.warn=0"]


@pytest.fixture(scope="session")
def with_polyfill(php, phpredis):
    prepend = HERE.parent.parent / "php-polyfill" / "autoload.php"
    return [php, "-n", *phpredis, "-d", f"auto_prepend_file={prepend}", "-d", "bloomfilter.warn=0"]
