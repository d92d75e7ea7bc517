"""Calls with arguments at random, and overfull: "raise": the same line for each call as the extension
prints, that is, the same result or the same exception with its code and message."""

from itertools import zip_longest
from pathlib import Path

import pytest
from products import run

HERE = Path(__file__).resolve().parent


def assert_same(with_polyfill, with_extension, script, *arguments):
    ours, theirs = (
        run([*php, HERE / script, *arguments], encoding="latin-1").splitlines()
        for php in (with_polyfill, with_extension)
    )
    for mine, wanted in zip_longest(ours, theirs):
        assert mine == wanted, f"{script} {' '.join(arguments)}"
    return theirs


@pytest.mark.parametrize("seed", ["3", "7", "8"])
def test_calls(seed, with_polyfill, with_extension):
    lines = assert_same(with_polyfill, with_extension, "calls.php", seed, "3000")
    assert len(lines) >= 3000


def test_overfull(with_polyfill, with_extension):
    lines = assert_same(with_polyfill, with_extension, "overfull.php")
    assert sum("BloomFilterException -11" in line for line in lines) > 20


def test_intervals(with_polyfill, with_extension):
    ours, theirs = (
        run([*php, HERE / "intervals.php"], encoding="latin-1").splitlines()
        for php in (with_polyfill, with_extension)
    )
    pairs = list(zip(ours, theirs, strict=True))
    assert len(pairs) > 150
    assert [pair for pair in pairs if pair[0] != pair[1] and "needs the ext" not in pair[0]] == []
