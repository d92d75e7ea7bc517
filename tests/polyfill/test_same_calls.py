"""Calls with arguments at random: the same line for each call as the extension prints, that is, the same
result or the same exception with its code and message."""

from itertools import zip_longest
from pathlib import Path

import pytest
from products import run

HERE = Path(__file__).resolve().parent


@pytest.mark.parametrize("seed", ["3", "4"])
def test_calls(seed, with_polyfill, with_extension):
    ours, theirs = (
        run([*php, HERE / "calls.php", seed, "4000"], encoding="latin-1").splitlines()
        for php in (with_polyfill, with_extension)
    )
    assert len(theirs) > 4000
    for mine, wanted in zip_longest(ours, theirs):
        assert mine == wanted
