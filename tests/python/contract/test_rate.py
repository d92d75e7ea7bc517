"""The measured false-positive rate: at most the p that the filter says plus three standard errors of
the count.  Sizes by n and p, every scheme and kind of key: tests/c/test_rate.c.

Keys and hashes are fixed, so a run gives the same counts each time.  Probes go in as arrays: 10 to
20 ns each."""

from math import sqrt

import numpy as np
import pytest

from bloomfilter import BloomFilter


def numbers(start, count):
    return np.arange(start, start + count)


def false_positives(bf, keys):
    return np.frombuffer(bf.contains_many(keys), np.uint8).sum(dtype=int)


def check(found, probes, p):
    expected = 1.05 * p * probes
    assert found <= expected + 3 * sqrt(expected), (
        f"{found} of {probes} probes: rate {found / probes:.3g} for p={p}"
    )


@pytest.mark.parametrize(
    "m, n", [(1000, 100), (9_973, 1000), (1_000_003, 100_000), (8_000_000, 1_000_000)]
)
def test_classic_constructor(m, n):
    filters, probes, found = max(1, 20_000 // n), 500_000, 0
    for i in range(filters):
        bf = BloomFilter(m, n)
        bf.update(numbers(10**7 * i, n))
        found += false_positives(bf, numbers(10**9 + probes * i, probes))
    check(found, filters * probes, bf.p)


def test_fpr_is_the_rate_at_the_present_fill(scheme):
    bf = BloomFilter(n=100_000, p=0.01, scheme=scheme)
    for part in range(4):
        bf.update(numbers(50_000 * part, 50_000))
        measured = false_positives(bf, numbers(10**9, 2_000_000)) / 2_000_000
        assert bf.fpr == pytest.approx(measured, rel=0.08, abs=2e-5)
