"""Filters that count and grow: against a multiset, in every home and through bytes, pickle, to_plain."""

import pickle
import random
from collections import Counter

import pytest
import redis

from bloomfilter import BloomFilter, CountingBloomFilter


@pytest.fixture(params=["memory", "file", "url", "client"])
def place(request, tmp_path):
    if request.param == "memory":
        return {}
    if request.param == "file":
        return {"storage": tmp_path / "f.bloom"}
    server = request.getfixturevalue("redis_server")
    client = redis.Redis(port=server.port)
    client.flushall()
    if request.param == "url":
        return {"storage": server.url("counted")}
    return {"storage": client, "key": "counted"}


@pytest.mark.parametrize("grow", [1.0, 2.0])
def test_a_multiset(place, grow):
    rng, exact = random.Random(7), Counter()
    with CountingBloomFilter(n=40, p=1e-9, grow=grow, **place) as bf:
        for _ in range(1500):
            key = f"k{rng.randrange(400)}"
            if rng.random() < 0.55:
                assert bf.add(key) == (exact[key] == 0)
                exact[key] += 1
            else:
                assert bf.remove(key) == (exact[key] > 0)
                exact[key] -= exact[key] > 0
            assert bf.count_of(key) == min(exact[key], 15)
        keys = [f"k{i}" for i in range(400)]
        counts = bytes(min(exact[k], 15) for k in keys)
        assert bf.count_many(keys) == counts
        assert bf.contains_many(keys) == bytes(c > 0 for c in counts)
        assert len(bf.part_info()) > 1
        assert bf.add_many(keys) == bytes(c == 0 for c in counts)
        assert bf.remove_many(keys) == b"\1" * 400
        assert bf.count_many(keys) == counts
        copy = CountingBloomFilter.from_bytes(bf.to_bytes())
        assert copy == bf == bf.copy()
        assert copy.count_many(keys) == counts
        plain = bf.to_plain()
        assert type(plain) is BloomFilter and plain.grow == grow
        assert plain.contains_many(keys) == bf.contains_many(keys)
        for unite in (bf.update, bf.__ior__, bf.union):
            with pytest.raises(ValueError, match="filters that count and grow cannot be united"):
                unite(copy)
        if not place:
            assert pickle.loads(pickle.dumps(bf)) == bf
        bf.clear()
        assert "k1" not in bf and bf.add("k1")


def test_by_m_and_n_and_by_equal_parts():
    for kind in (BloomFilter, CountingBloomFilter):
        bf = kind(10000, 1000, grow=2)
        assert bf.n == 1000 and 0.008 < bf.p < 0.0083 and bf.grow == 2
        equal = kind(n=20_000, p=0.01, grow=1)
        equal.update(range(60_000))
        assert len({part["m"] for part in equal.part_info()}) == 1 < len(equal.part_info())
        for grow in (0.99, 1024.5, -1, 0):
            with pytest.raises(ValueError, match="grow must be a factor from 1 to 1024"):
                kind(n=100, p=0.01, grow=grow)
    with pytest.raises(ValueError, match="a counting filter cannot forget"):
        CountingBloomFilter(n=100, p=0.01, window=9)
