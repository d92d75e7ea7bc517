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


FOREIGN, ADDED = keys(10**9, PROBES), keys(0, 1_000_000)


def measured(bf):
    return sum(bf.contains_many(FOREIGN)) / PROBES


# Those whose formula is far from the truth are wrong by a factor here: 3e-6 and 2e-4, 1e-4 and 3e-4.
@pytest.mark.parametrize(
    "given",
    [
        {"scheme": "php-mt", "n": 1_000_000, "m": 40_000_000},
        {"scheme": "php-mt-legacy", "n": 1_000_000, "m": 40_000_000, "k": 8},
        {"scheme": "rs-rand", "n": 600_000, "m": 36_000_000},
        {"scheme": "rs-dotnet", "n": 600_000, "m": 36_000_000},
        {"scheme": "rs-dotnet", "n": 200_000, "m": 2_000_000, "k": 3},
        {"scheme": "rs-dotnet-repo", "n": 600_000, "m": 36_000_000, "k": 12},
        {"scheme": "sax-sdbm", "n": 200_000, "m": 2_500_000},
        {"scheme": "gozero", "n": 100_000, "m": 2_000_000},
        {"scheme": "java7", "n": 1_500, "m": 32_766},
        {"scheme": "guava32", "n": 100_000, "p": 1e-3},
        {"scheme": "redisson", "n": 100_000, "p": 1e-3},
        {"scheme": "redisson", "n": 100_003, "p": 1e-2},
        {"scheme": "redisson", "n": 100_004, "p": 2e-4},
    ],
    ids=lambda given: "-".join(map(str, given.values())),
)
def test_what_is_said_is_measured(given):
    bf = BloomFilter(**given, warn=False)
    bf.update(ADDED[: bf.n])
    info, got = bf.info(), measured(bf)
    for said in (bf.p, bf.fpr, info["p"], BloomFilter.plan(**given)["p"]):
        assert abs(got - said) < 0.05 * said + 4 * math.sqrt(said * (1 - said) / PROBES)
    assert info["count"] == pytest.approx(bf.n, rel=0.05)


def fingerprints(salt, count):
    return [hashlib.sha1(b"%d %d" % (salt, i)).hexdigest() for i in range(count)]


# Its first position is the sum of 40 characters, the same few for all keys: twice, or ten times, the formula.
@pytest.mark.parametrize(
    ("bit", "k", "n"),
    [(12, 6, 500), (16, 6, 4000), (20, 6, 100_000), (20, 3, 50_000), (20, 1, 50_000)],
)
def test_fingerprints_in_scrapy_redis_bloomfilter(bit, k, n):
    bf = BloomFilter(m=2**bit, n=n, k=k, scheme="scrapy-redis-bloomfilter", warn=False)
    bf.update(fingerprints(1, n))
    got = sum(bf.contains_many(fingerprints(2, 100_000))) / 100_000
    assert abs(got - bf.p) < 0.05 * bf.p + 4 * math.sqrt(bf.p / 100_000)
    assert len(bf) == pytest.approx(n, rel=0.05 if k > 1 else 0.5)


# The filter does not know how long its keys are: short ones crowd its second position as well.
@pytest.mark.parametrize(
    "size", [{"n": 200_000, "p": 0.01}, {"n": 50_000, "m": 2**20, "k": 3}], ids=str
)
@pytest.mark.parametrize("kind", [keys, fingerprints])
def test_fpr_in_scrapy_redis_bloomfilter_for_keys_of_other_lengths(kind, size, tmp_path):
    bf = BloomFilter(scheme="scrapy-redis-bloomfilter", **size, warn=False)
    added, probes = kind(1, size["n"]), kind(10**9, PROBES)
    for n in (size["n"] // 2, size["n"]):
        bf.update(added[:n])
        got = sum(bf.contains_many(probes)) / PROBES
        assert abs(got - bf.fpr) < 0.05 * bf.fpr + 4 * math.sqrt(bf.fpr / PROBES)
        assert len(bf) == pytest.approx(n, rel=0.02)
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


def test_positions_beyond_the_generator():
    """31 bits reach half of 2^32 cells: as if the filter had half of them."""
    half = BloomFilter.plan(m=2**31, n=10**8, k=8, scheme="classic")["p"]
    whole = BloomFilter.plan(m=2**32, n=10**8, k=8, scheme="php-mt-legacy")["p"]
    assert whole == pytest.approx(1 - (1 - half) * math.exp(-(10**8) / 2**32), rel=1e-6)
    assert BloomFilter.plan(m=2**32, n=10**8, k=8, scheme="guava32")["p"] == pytest.approx(
        half, rel=1e-6
    )
    # 2^32 numbers on 3 * 2^30 cells: a third of them gets two.
    one, two = -math.expm1(-2e7 / 2**32), -math.expm1(-4e7 / 2**32)
    assert BloomFilter.plan(m=3 * 2**30, n=10**7, scheme="sax-sdbm")["p"] == pytest.approx(
        (one / 2 + two / 2) ** 2, rel=1e-6
    )


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
