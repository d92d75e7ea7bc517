"""adopt=True: a bitmap that go-zero fills becomes a filter of ours too, and go-zero goes on: its
SETBITs and GETBITs are made here, at the positions of a filter in memory, which tests/vectors
compares with go-zero's own."""

import pytest

from bloomfilter import BloomFilter, Error

GOZERO = {"scheme": "gozero", "m": 20480}


@pytest.fixture
def server(redis_by_url):
    redis_by_url("FLUSHALL")
    return redis_by_url


@pytest.fixture(scope="module")
def known():
    scale = BloomFilter(**GOZERO)
    return [(f"n{i}", scale.hashcode(f"n{i}")) for i in range(40)]


def they_add(server, some):
    for _, positions in some:
        for position in positions:
            assert server(f"SETBIT theirs {position} 1")[:1] == ":"


def test_a_constructor_adopts_or_makes(server, known):
    url = server.url("theirs")
    they_add(server, known[:3])
    with BloomFilter(storage=url, adopt=True, **GOZERO) as bf:
        assert known[0][0] in bf and not bf.created
        bf.delete()
    with BloomFilter(storage=url, adopt=True, **GOZERO) as bf:
        assert bf.created
        they_add(server, known)
        assert all(key in bf for key, _ in known)


def test_what_is_refused(server, known):
    url = server.url("theirs")
    with pytest.raises(Error, match="does not exist"):
        BloomFilter.open(url, adopt=True, **GOZERO)
    they_add(server, known[:3])
    with pytest.raises(ValueError, match="no Redis is given"):
        BloomFilter(m=100, n=10, adopt=True)
    with pytest.raises(ValueError, match="adopt writes to the filter: read_only must not be given"):
        BloomFilter.open(url, adopt=True, read_only=True, **GOZERO)
    sizes = {"m": GOZERO["m"]}
    for call in (BloomFilter.open, lambda url, **more: BloomFilter(storage=url, **more)):
        for where in (url, server.url("none")):
            for more in ({}, sizes):
                with pytest.raises(ValueError, match="scheme must be given"):
                    call(where, adopt=True, **more)
    with pytest.raises(Error, match="room for the mark"):
        BloomFilter.open(url, adopt=True, scheme="classic", m=2**32, k=3, shards=1)
    assert server("DBSIZE") == ":1\r\n"
