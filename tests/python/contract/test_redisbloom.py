"""Filters of RedisBloom as its BF.SCANDUMP gave them: tests/vectors/redisbloom.txt, as
tests/c/test_redisbloom.c reads it. tests/python/home_redis/test_redisbloom_module.py asks the module itself."""

import hashlib

import pytest
from old_vectors import lines, url

from bloomfilter import BloomFilter, Error

ROWS = lines("redisbloom.txt")


def urls(salt, count):
    return [url(salt, i) for i in range(int(count))]


def made(capacity, error, growth):
    grows = {"grow": float(growth)} if int(growth) else {}
    return BloomFilter(n=int(capacity), p=float(error), scheme="redisbloom", **grows)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: "-".join(row[:3]))
def test_filters_of_the_module(row):
    capacity, error, growth, adds, new, probes, found, links, sha, _, whole = row
    filters = []
    if int(growth) <= 1024:
        filters.append(made(capacity, error, growth))
        assert filters[0].update(urls(13, adds)) == int(new)
        if int(growth):
            assert hashlib.sha256(filters[0].to_bytes(format="redisbloom")).hexdigest() == sha
    if whole != "-":
        data = bytes.fromhex(whole)
        filters.append(BloomFilter.from_bytes(data, format="redisbloom"))
        assert filters[-1].to_bytes(format="redisbloom") == data
        assert filters[-1].scheme == "redisbloom"
    for bf in filters:
        assert bf == filters[0]
        assert all(bf.contains_many(urls(13, adds)))
        assert sum(bf.contains_many(urls(14, probes))) == int(found)
        assert len(bf.info()["parts"]) == int(links) if "parts" in bf.info() else True
        assert BloomFilter.from_bytes(bf.to_bytes()) == bf


def test_places_that_have_no_module():
    with pytest.raises(ValueError, match="module RedisBloom"):
        BloomFilter.from_redisbloom("seen.bloom", "seen")
    with pytest.raises(ValueError, match="scheme redisbloom"):
        BloomFilter(n=10, p=0.1).to_redisbloom("redis://127.0.0.1:1/0", "seen")
    with pytest.raises(OSError):
        made(10, 0.1, 0).to_redisbloom("redis://127.0.0.1:1/0", "seen")
    for wrong in (3, None):
        with pytest.raises(TypeError):
            BloomFilter.from_redisbloom(wrong, "seen")


def test_a_server_without_the_module(redis_by_url):
    with pytest.raises(Error, match="lacks the module RedisBloom"):
        BloomFilter.from_redisbloom(redis_by_url.url("seen"))
    with pytest.raises(Error, match="lacks the module RedisBloom"):
        made(10, 0.1, 0).to_redisbloom(redis_by_url.url("seen"))
