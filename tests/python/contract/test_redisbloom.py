"""Filters of RedisBloom in places that have no such module.  tests/c/test_redisbloom.c has what its
BF.SCANDUMP gave; tests/python/home_redis/test_redisbloom_module.py asks the module itself."""

import pytest

from bloomfilter import BloomFilter, Error


def test_places_that_have_no_module():
    with pytest.raises(ValueError, match="module RedisBloom"):
        BloomFilter.from_redisbloom("seen.bloom", "seen")
    with pytest.raises(ValueError, match="scheme redisbloom"):
        BloomFilter(n=10, p=0.1).to_redisbloom("redis://127.0.0.1:1/0", "seen")
    with pytest.raises(OSError):
        BloomFilter(n=10, p=0.1, scheme="redisbloom").to_redisbloom("redis://127.0.0.1:1/0", "seen")
    for wrong in (3, None):
        with pytest.raises(TypeError):
            BloomFilter.from_redisbloom(wrong, "seen")


def test_a_server_without_the_module(redis_by_url):
    with pytest.raises(Error, match="lacks the module RedisBloom"):
        BloomFilter.from_redisbloom(redis_by_url.url("seen"))
    with pytest.raises(Error, match="lacks the module RedisBloom"):
        BloomFilter(n=10, p=0.1, scheme="redisbloom").to_redisbloom(redis_by_url.url("seen"))
