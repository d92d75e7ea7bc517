"""The attacks of attacks.py succeed on filters whose hash is public and fail on keyed ones.

Deterministic: the secret is fixed, so that a run repeats; the bound of a keyed filter is its rate
plus five standard deviations of that many probes.
"""

import math

import pytest
from attacks import crc_twins, murmur_siblings, polluters

from bloomfilter import BloomFilter

SECRET = bytes(range(16))
NATIVE = ("classic", "block", "block2")
VICTIM = b"https://shop.example/account/4711?session=1234567890abcdef"


def bound(p, probes):
    return p * probes + 5 * math.sqrt(p * (1 - p) * probes)


def present(bf, keys):
    return sum(bf.contains_many(keys))


@pytest.mark.parametrize("scheme", ["php-mt", "php-mt-legacy"])
def test_crc32_twins_are_all_present(scheme):
    bf = BloomFilter(m=100_000, n=5_000, scheme=scheme)
    bf.add(VICTIM)
    twins = crc_twins(VICTIM, 2000)
    assert len(set(twins)) == 2000 and present(bf, twins) == 2000


@pytest.mark.parametrize(
    "kwargs",
    [{"m": 100_000, "scheme": "gozero", "k": 14}, {"n": 5_000, "p": 0.001, "scheme": "guava"}],
)
def test_murmur_siblings_are_all_present(kwargs):
    bf = BloomFilter(**kwargs)
    bf.add(VICTIM)
    siblings = murmur_siblings(VICTIM, 2000)
    assert len(set(siblings)) == 2000 and VICTIM not in siblings and present(bf, siblings) == 2000


@pytest.mark.parametrize("scheme", NATIVE)
@pytest.mark.parametrize("make", [crc_twins, murmur_siblings])
def test_twins_are_strangers_to_a_keyed_filter(scheme, make):
    n, p = 5_000, 0.01
    bf = BloomFilter(n=n, p=p, scheme=scheme, secret=SECRET)
    bf.update(b"ordinary %d" % i for i in range(n - 1))
    bf.add(VICTIM)
    crafted = make(VICTIM, 20_000)
    assert present(bf, crafted) <= bound(1.05 * p, len(crafted))


def polluted(n, p, scheme, secret, crafted):
    bf = BloomFilter(n=n, p=p, scheme=scheme, secret=secret)
    bf.update(crafted)
    probes = [b"probe %d" % i for i in range(20_000)]
    return present(bf, probes) / len(probes)


def test_pollution():
    """Twice n crafted keys ruin an unkeyed filter; to a keyed one they are as any other 2n keys."""
    n, p = 500, 0.01
    crafted = polluters(BloomFilter(n=n, p=p, scheme="classic"), 2 * n)
    honest = polluted(n, p, "classic", None, [b"honest %d" % i for i in range(2 * n)])
    assert polluted(n, p, "classic", None, crafted) > 0.8
    assert polluted(n, p, "classic", SECRET, crafted) < 1.3 * honest + 0.02
    assert honest < 0.25


@pytest.mark.parametrize("scheme", NATIVE)
def test_false_positives_found_offline_do_not_carry_over(scheme):
    """Knowing all that was added, the attacker searches false positives in a copy of his own."""
    n, p = 2_000, 0.05
    added = [b"public %d" % i for i in range(n)]
    model = BloomFilter(n=n, p=p, scheme=scheme)
    model.update(added)
    candidates = [b"candidate %d" % i for i in range(60_000)]
    found = [key for key, hit in zip(candidates, model.contains_many(candidates)) if hit]
    plain = BloomFilter(n=n, p=p, scheme=scheme)
    plain.update(added)
    assert len(found) > 1000 and present(plain, found) == len(found)
    keyed = BloomFilter(n=n, p=p, scheme=scheme, secret=SECRET)
    keyed.update(added)
    assert present(keyed, found) <= bound(1.05 * p, len(found))
