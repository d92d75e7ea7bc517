"""The measured false-positive rate: at most 1.05 p plus three standard errors of the count, for
every kind of key.

Keys and hashes are fixed, so a run gives the same counts each time.  Probes go in as arrays: 10 to
20 ns each."""

from math import sqrt

import numpy as np
import pytest

from bloomfilter import BloomFilter

PROBES = {1e-1: 300_000, 1e-2: 2_000_000, 1e-3: 6_000_000, 1e-4: 15_000_000, 1e-5: 20_000_000}


def numbers(start, count):
    return np.arange(start, start + count)


def prefixes(start, count):
    return np.array(
        [b"https://www.example.org/category/page?id=%d" % i for i in range(start, start + count)],
        dtype="S56",
    )


def random_bytes(start, count):
    """`start` is the seed: ranges that differ give keys that differ."""
    return np.frombuffer(np.random.default_rng(start).bytes(16 * count), dtype="S16")


def false_positives(bf, keys):
    return np.frombuffer(bf.contains_many(keys), np.uint8).sum(dtype=int)


def check(found, probes, p):
    expected = 1.05 * p * probes
    assert found <= expected + 3 * sqrt(expected), (
        f"{found} of {probes} probes: rate {found / probes:.3g} for p={p}"
    )


def fill_and_probe(bf, make, probes, step=1_000_000):
    keys = make(1, bf.n)
    bf.update(keys)
    assert min(bf.contains_many(keys)) == 1
    return sum(
        false_positives(bf, make(10**9 + at, min(step, probes - at)))
        for at in range(0, probes, step)
    )


@pytest.mark.parametrize("p", PROBES)
def test_each_scheme(scheme, p):
    bf = BloomFilter(n=100_000, p=p, scheme=scheme)
    check(fill_and_probe(bf, numbers, PROBES[p]), PROBES[p], p)


@pytest.mark.parametrize("p", PROBES)
@pytest.mark.parametrize("n", [99_999, 1_000_000])
def test_default_scheme(n, p):
    check(fill_and_probe(BloomFilter(n=n, p=p), numbers, PROBES[p]), PROBES[p], p)


@pytest.mark.parametrize("p", [1e-1, 1e-2, 1e-3, 1e-4])
@pytest.mark.parametrize("make", [prefixes, random_bytes], ids=lambda f: f.__name__)
def test_other_keys(make, p):
    probes = min(PROBES[p], 1_000_000)
    check(fill_and_probe(BloomFilter(n=100_000, p=p), make, probes), probes, p)


@pytest.mark.parametrize("p", [1e-1, 1e-2, 1e-3])
@pytest.mark.parametrize(
    "n, filters",
    [(1, 500), (2, 500), (3, 500), (7, 500), (64, 500), (101, 500), (1000, 200), (1001, 200)],
)
def test_small_filters(n, filters, p):
    """One small filter is luck: many of them, each with its own keys."""
    probes, found = 10_000, 0
    for i in range(filters):
        bf = BloomFilter(n=n, p=p)
        bf.update(numbers(10**6 * i, n))
        found += false_positives(bf, numbers(10**9 + probes * i, probes))
    check(found, filters * probes, p)


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
