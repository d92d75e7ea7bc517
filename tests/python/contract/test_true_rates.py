"""What p, fpr and plan() say of older systems' schemes is what one measures: hashes of 31 and 32 bits,
generators that reach some cells only, Redisson's walk."""

import hashlib
import math
import re
from pathlib import Path

import pytest

from bloomfilter import BloomFilter

PROBES = 400_000
ROOT = Path(__file__).resolve().parents[3]


def keys(first, count):
    """Bytes that no hash of a table has a habit with."""
    step = 0x9E3779B97F4A7C15
    return [
        (i * step % 2**64).to_bytes(8, "little").hex().encode() for i in range(first, first + count)
    ]


# A row: scheme, n, m, k, p, the rate that was measured, twice its standard error.
TABLE = re.findall(
    r"^\| `(.+?)` \| (.+?) \| (.+?) \| (\d+) \| .+? \| (.+?) \| (.+?) ± (.+?) \|",
    (ROOT / "bench" / "NOTES.md").read_text(),
    re.M,
)


def given_in(row):
    scheme, *numbers = row[:4]
    return dict(zip("nmk", (int(number.replace(",", "")) for number in numbers)), scheme=scheme)


def test_the_table_of_rates_has_every_scheme_and_says_what_plan_says():
    schemes = set(re.findall(r'\.name = "([^"]+)"', (ROOT / "core" / "tables.c").read_text()))
    schemes.discard("functions")  # whose rate is that of the user's functions
    schemes -= {one for one in schemes if one.startswith("hashes64")}  # and here of the hashes
    assert {row[0].split(":")[0] for row in TABLE} == schemes
    for row in TABLE:
        p, found, error = map(float, row[4:])
        assert BloomFilter.plan(**given_in(row))["p"] == pytest.approx(p, rel=1e-3), row
        assert abs(found - p) <= 0.05 * p + 1.5 * error, row


# Of the table's rows, those whose formula alone is far from the truth.
@pytest.mark.parametrize("scheme, n", [("java7", "1,500"), ("redisson", "100,003")])
def test_what_is_said_is_measured(scheme, n):
    (given,) = (given_in(row) for row in TABLE if row[:2] == (scheme, n))
    bf = BloomFilter(**given, warn=False)
    bf.update(keys(0, bf.n))
    info, got = bf.info(), sum(bf.contains_many(keys(10**9, PROBES))) / PROBES
    for said in (bf.p, bf.fpr, info["p"]):
        assert abs(got - said) < 0.05 * said + 4 * math.sqrt(said * (1 - said) / PROBES)
    assert info["count"] == pytest.approx(bf.n, rel=0.05)


def fingerprints(salt, count):
    return [hashlib.sha1(b"%d %d" % (salt, i)).hexdigest() for i in range(count)]


# Its first position is the sum of 40 characters, the same few for all fingerprints: twice, or ten times,
# the formula.  The filter does not know how long its keys are: short ones crowd its second position as well.
@pytest.mark.parametrize(
    "kind, bit, k, n",
    [
        (fingerprints, 12, 6, 500),
        (fingerprints, 16, 6, 4000),
        *((kind, 20, 3, 50_000) for kind in (keys, fingerprints)),
        *((kind, 21, 6, 200_000) for kind in (keys, fingerprints)),
    ],
)
def test_rates_of_scrapy_redis_bloomfilter(kind, bit, k, n, tmp_path):
    bf = BloomFilter(m=2**bit, n=n, k=k, scheme="scrapy-redis-bloomfilter", warn=False)
    added, probes = kind(1, n), kind(10**9, PROBES)
    for count in (n // 2, n):
        bf.update(added[:count])
        got = sum(bf.contains_many(probes)) / PROBES
        for said in (bf.fpr, *[bf.p] * (count == n and kind is fingerprints)):
            assert abs(got - said) < 0.05 * said + 4 * math.sqrt(said / PROBES)
        assert len(bf) == pytest.approx(count, rel=0.02 if n > 4000 else 0.05)
    bf.save(tmp_path / "f")
    assert BloomFilter.open(tmp_path / "f").fpr == bf.fpr


def test_sizes_of_scrapy_redis_bloomfilter():
    plan = BloomFilter.plan(n=100_000, p=0.001, scheme="scrapy-redis-bloomfilter")
    assert (plan["m"], plan["k"]) == (2**21, 6) and plan["p"] <= 0.001
    half = BloomFilter.plan(n=100_000, m=2**20, scheme="scrapy-redis-bloomfilter")
    assert half["k"] == 6 and half["p"] > 0.001


ROWS = (ROOT / "core" / "tables.c").read_text().split("older systems", 1)[1].split("/*")[0]
OLDER = dict(re.findall(r'\.name = "([^"]+)"(.*?)\},? *\n', ROWS, re.DOTALL))


def largest_m(scheme):
    """2^40, or what the refusal of it says."""
    for given in ({"k": 6}, {}):
        try:
            return BloomFilter.plan(m=2**40, n=1, scheme=scheme, **given)["m"]
        except ValueError as e:
            found = re.search(r"m must be (?:1 to )?(\d+)", str(e))
            if found:
                return int(found[1]) if scheme != "java7" else 2**30  # a power of two
    raise AssertionError(scheme)


@pytest.mark.parametrize("row", sorted(OLDER.keys() - {"functions"}))
def test_a_p_below_the_floor_of_any_scheme_is_refused_with_the_floor(row):
    n, floor, scheme = 3 * 10**9, 1, row + ":JS,ELF" * (row == "php-hashes")
    most = largest_m(scheme)
    for k in range(1, 40) if "usual_k" not in OLDER[row] else [None]:
        try:
            plan = BloomFilter.plan(m=most, n=n, scheme=scheme, **({"k": k} if k else {}))
            floor = min(floor, plan["p"])
        except ValueError as e:
            assert re.search("k must be (1 to )?[0-9]+", str(e)) and row in str(e)
    assert 1e-11 < floor < 1
    says = rf"not possible: .* rate of {floor:.4g}\b"
    if row == "redisson":  # its walk has no floor: it refuses by its own formula
        says = f"redisson takes at most {most}"
    for lower in (0.99, 0.3):
        with pytest.raises(ValueError, match=says):
            BloomFilter.plan(n=n, p=floor * lower, scheme=scheme)
