"""Calls with arguments at random, and thousands of damaged images: the same line for each call as the extension
prints, that is, the same result or the same exception with its code and message, unless the polyfill says of an
image that it needs the extension."""

from itertools import zip_longest
from pathlib import Path

import pytest
from products import run

HERE = Path(__file__).resolve().parent


@pytest.mark.parametrize("seed", ["3", "4"])
def test_calls(seed, with_polyfill, with_extension, tmp_path):
    ours, theirs = (
        run(
            [*php, HERE / "calls.php", seed, "8000", tmp_path / "f"], encoding="latin-1"
        ).splitlines()
        for php in (with_polyfill, with_extension)
    )
    assert len(theirs) > 8000
    for mine, wanted in zip_longest(ours, theirs):
        if " damaged " not in wanted:
            assert mine == wanted
            continue
        for a, b in zip(mine.split(" | "), wanted.split(" | "), strict=True):
            assert a == b or "needs the extension" in a
