"""Thousands of damaged images: the extension and the polyfill accept the same ones, and refuse the others by the same
exception, code and message, unless the polyfill says that the filter needs the extension."""

import subprocess
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent / "mutants.php"


def run(php, given, *arguments):
    command = [*php, SCRIPT, *map(str, arguments)]
    return subprocess.run(command, input=given, capture_output=True, check=True).stdout


def test_the_same(with_extension, with_polyfill, tmp_path):
    images = run(with_extension, b"", "make", 1, 3000)
    theirs, ours = (
        run(php, images, "read", tmp_path / "f").splitlines()
        for php in (with_extension, with_polyfill)
    )
    assert len(theirs) == len(ours) == 3000
    assert sum(line.startswith(b"BloomFilter ") for line in theirs) > 200
    for number, lines in enumerate(zip(theirs, ours, strict=True)):
        for a, b in zip(*(line.split(b" | ") for line in lines), strict=True):
            assert a == b or b"needs the extension" in b, number
