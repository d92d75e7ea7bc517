"""Growing filters of scheme redisbloom in a plain Redis: parts of different k, two digests a key.
The same answers as in memory, and the same bytes for the module."""

import pytest

from bloomfilter import BloomFilter

KEYS = [f"k{i}" for i in range(6000)]
CHAIN = {"n": 100, "p": 0.01, "grow": 2.0, "scheme": "redisbloom"}


def dumped(bf):
    return bf.to_bytes(format="redisbloom")


@pytest.mark.parametrize("more", [{}, {"cache": True}], ids=str)
def test_as_in_memory(redis_by_url, more):
    near = BloomFilter(**CHAIN)
    far = BloomFilter(**CHAIN, storage=redis_by_url.url(f"chain{len(more)}"), **more)
    for at in range(0, 3000, 700):
        assert far.add_many(KEYS[at : at + 700]) == near.add_many(KEYS[at : at + 700])
    for key in KEYS[3500:3560]:
        assert far.add(key) == near.add(key)
    assert bytes(far.contains_many(KEYS)) == bytes(near.contains_many(KEYS))
    assert [key in far for key in KEYS[:50]] == [True] * 50
    assert far.hashcode("x") == near.hashcode("x")
    assert far == near and dumped(far) == dumped(near)


def test_saved_opened_and_united(redis_by_url):
    near = BloomFilter(**CHAIN)
    near.update(KEYS[:3000])
    near.save(redis_by_url.url("saved"))
    saved = BloomFilter.open(redis_by_url.url("saved"))
    assert saved == near
    for bf in near, saved:
        bf.update(KEYS)
    assert dumped(saved) == dumped(near)
    assert BloomFilter.load(redis_by_url.url("saved")) == near
    other = BloomFilter(**CHAIN, storage=redis_by_url.url("other"))
    other |= near
    assert all(other.contains_many(KEYS))
    other.clear()
    assert not any(other.contains_many(KEYS))
