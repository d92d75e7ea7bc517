"""Bitmaps in Redis that other systems fill: go-zero, the three-hash PHP class, Redisson.  What they
wrote is written here by SETBIT, from what those systems answered (tests/vectors); opened and gone
on with, without a mark, a companion or growth."""

# ruff: noqa: F401, F811 - fixtures of another test file
import pytest
from old_vectors import KEYS, blocks
from test_redis import empty, server

from bloomfilter import BloomFilter, Error

BITS_MOST = 2**30  # of the PHP class's positions: its string shall not take half a GiB


def rows(scheme, m):
    found = next(block for block in blocks() if block[0] == scheme and block[1] == m)
    rows = [
        (KEYS[number], [int(x) for x in positions[: found[2]]])
        for number, positions in found[3]
        if positions != ["!"] and number[0] != "'"
    ]
    return [row for row in rows if max(row[1]) < BITS_MOST]


def set_bits(server, key, positions):
    for position in positions:
        assert server(f"SETBIT {key} {position} 1")[:1] == ":"


def get_bits(server, key, positions):
    return [int(server(f"GETBIT {key} {position}")[1:2]) for position in positions]


CASES = [
    ("gozero", 20480, {"m": 20480}, 60),
    ("php-hashes:BKDR,SDBM,JS", 2**32, {}, 3),
    ("redisson", 219675, {"m": 219675, "k": 10}, 40),
]


@pytest.mark.parametrize("scheme, m, given, n", CASES, ids=lambda v: str(v)[:20])
def test_opened_and_continued(server, scheme, m, given, n):
    url = server.url("theirs")
    known = rows(scheme, m)
    theirs, ours = known[: n - 1], known[n - 1]
    for arguments in (given, {}):
        with pytest.raises(Error, match="does not exist"):
            BloomFilter.open(url, scheme=scheme, **arguments)
    assert server("DBSIZE") == ":0\r\n"
    for _, positions in theirs:
        set_bits(server, "theirs", positions)
    length = server("STRLEN theirs")
    if given:
        with pytest.raises(ValueError, match="the size is not known"):
            BloomFilter.open(url, scheme=scheme)
    with pytest.raises(Error, match="not our filter"):
        BloomFilter(scheme=scheme, storage=url, **given)
    with BloomFilter.open(url, scheme=scheme, **given) as bf:
        assert bf.contains_many(key for key, _ in theirs) == b"\1" * len(theirs)
        assert server("STRLEN theirs") == length and server("DBSIZE") == ":1\r\n"
        fresh = 0 in get_bits(server, "theirs", ours[1])
        assert (ours[0] in bf) is not fresh and bf.add(ours[0]) is fresh and ours[0] in bf
        assert get_bits(server, "theirs", ours[1]) == [1] * len(ours[1])
        top = max(max(positions) for _, positions in (*theirs, ours))
        assert server("STRLEN theirs") == f":{top // 8 + 1}\r\n"
        for call in (bf.clear, bf.delete, lambda: bf.expire(5), lambda: bf.rebuild([])):
            with pytest.raises(Error):
                call()
    with pytest.raises(Error, match="cache needs one"):
        BloomFilter.open(url, scheme=scheme, cache=True, **given)
    assert server("DBSIZE") == ":1\r\n"


def test_redissons_hash(server):
    url = server.url("r")
    server(
        "HMSET {r}:config size 219675 hashIterations 10 expectedInsertions 15279 falseProbability 0.001"
    )
    with BloomFilter.open(url, scheme="redisson") as bf, BloomFilter.open(url) as same:
        assert (
            (bf.m, bf.k, bf.n, bf.p)
            == (same.m, same.k, same.n, same.p)
            == (219675, 10, 15279, pytest.approx(0.001426, rel=0.001))
        )
        for key, positions in rows("redisson", 219675)[:20]:
            set_bits(server, "r", positions)
            assert key in bf and key in same
        key, positions = rows("redisson", 219675)[21]
        assert bf.add(key) and get_bits(server, "r", positions) == [1] * 10
        assert server("DBSIZE") == ":2\r\n"
        server("DEL r {r}:config")
        for call in (lambda: key in bf, lambda: bf.add(key), bf.copy):
            with pytest.raises(Error, match="is lost"):
                call()
    assert server("DBSIZE") == ":0\r\n"
    with BloomFilter(n=15279, p=0.001, scheme="redisson", storage=url) as bf:
        assert (
            server("HGET {r}:config size").split()[1] == str(bf.m)
            and server("HGET {r}:config falseProbability").split()[1] == "0.001"
        )
        assert bf.add("x") and server("DBSIZE") == ":2\r\n"


def test_n_alone_where_the_scheme_fixes_the_rest(server, tmp_path):
    for scheme in ("gozero", "rs-rand", "rs-dotnet"):
        for storage in (server.url(scheme), tmp_path / scheme):
            with BloomFilter(n=1000, scheme=scheme, storage=storage) as bf:
                assert (bf.m, bf.k) == (
                    BloomFilter(n=1000, scheme=scheme).m,
                    BloomFilter(n=1000, scheme=scheme).k,
                )
                assert bf.add("x")
            with BloomFilter(n=1000, scheme=scheme, storage=storage) as bf:
                assert "x" in bf


def test_fpr_is_estimated_as_in_memory(server):
    given = {"scheme": "scrapy-redis-bloomfilter", "n": 1000, "m": 2**22, "warn": False}
    here = BloomFilter(**given)
    here.update(b"%08x" % (i * 0x9E3779B9 % 2**32) for i in range(100_000))
    with BloomFilter(**given, storage=server.url("s")) as there:
        there |= here
        assert (there.fpr, len(there)) == (here.fpr, len(here)) and here.fpr > 0
