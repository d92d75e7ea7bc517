"""adopt=True: a bitmap that go-zero fills becomes a filter of ours too, and go-zero goes on: its
SETBITs and GETBITs are made here, at the positions of a filter in memory, which tests/vectors
compares with go-zero's own."""

import time

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


def they_have(server, some):
    return all(
        server(f"GETBIT theirs {position}") == ":1\r\n"
        for _, positions in some
        for position in positions
    )


def test_adopted_cared_for_and_gone_on_with(server, known):
    url = server.url("theirs")
    they_add(server, known[:20])
    with (
        BloomFilter.open(url, adopt=True, cache=True, **GOZERO) as bf,
        BloomFilter.open(url) as by_name,
    ):
        assert (by_name.scheme, by_name.m, by_name.k) == ("gozero", 20480, 14) and not bf.created
        they_add(server, known[20:30])
        for f in (bf, by_name):
            assert f.contains_many(key for key, _ in known[:30]) == b"\1" * 30
        by_name.update(key for key, _ in known[30:])
        assert they_have(server, known)
        bf.clear()
        assert not by_name and not they_have(server, known[:1])
        they_add(server, known[:10])
        assert bf.contains_many(key for key, _ in known[:10]) == b"\1" * 10
        near = BloomFilter(**GOZERO)
        near.update(key for key, _ in known[10:20])
        bf |= near
        assert they_have(server, known[:20])
        bf.rebuild([key for key, _ in known[20:25]])
        they_add(server, known[25:])
        assert by_name.contains_many(key for key, _ in known[20:]) == b"\1" * 20
        bf.expire(0.05)
        while server("EXISTS theirs") == ":1\r\n":
            time.sleep(0.01)
        they_add(server, known[:3])
        with pytest.raises(Error, match="is lost"):
            known[0][0] in by_name
        with BloomFilter.open(url, adopt=True, **GOZERO) as again:
            assert known[0][0] in again and known[1][0] in by_name
            again.delete()
        assert server("DBSIZE") == ":0\r\n"


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
    with pytest.raises(Error, match="room for the mark"):
        BloomFilter.open(url, adopt=True, scheme="classic", m=2**32, k=3, shards=1)
    assert server("DBSIZE") == ":1\r\n"
