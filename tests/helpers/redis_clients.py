"""Clients of redis-py as a home: what their tests share."""

import pytest
from bloomfilter import BloomFilter, CountingBloomFilter, Error

redis = pytest.importorskip("redis")
pytest.importorskip("redis.asyncio")
from redis.backoff import NoBackoff  # noqa: E402
from redis.retry import Retry  # noqa: E402

FAULTS = (Error, OSError)


def plain(port, **options):
    """No retries of redis-py's own: a fault is there at once."""
    return redis.Redis(
        port=port, host="127.0.0.1", retry=Retry(NoBackoff(), 0), socket_timeout=5, **options
    )


def check_against_memory(client, scheme, key="seen"):
    keys = [f"k{i}" for i in range(3000)]
    with BloomFilter(n=5000, p=0.01, scheme=scheme, storage=client, key=key) as bf:
        memory = BloomFilter(n=5000, p=0.01, scheme=scheme)
        assert bf.add_many(keys[:2000]) == memory.add_many(keys[:2000])
        assert bf.contains_many(iter(keys)) == memory.contains_many(keys)
        assert bf.update(keys[1990:2010]) == memory.update(keys[1990:2010])
        assert bf.add("x") and not bf.add("x") and "x" in bf and b"y" not in bf
        memory.add("x")
        assert bf.bitset == memory.bitset and bf == memory and bf.copy() == memory
        assert len(bf) == len(memory) and bf.fill_ratio == memory.fill_ratio and bool(bf)
        other = BloomFilter(n=5000, p=0.01, scheme=scheme)
        other.add("z")
        bf |= other
        assert "z" in bf and (bf | other) == bf
        with BloomFilter.open(client, key=key) as again:
            assert again == bf and (again.n, again.p) == (5000, 0.01)
        with (
            BloomFilter.open(client, key=key, read_only=True) as reader,
            pytest.raises(Error, match="read-only"),
        ):
            reader.add("no")
        bf.clear()
        assert not bf and "x" not in bf
        bf.expire(100)
        assert 90 < client.ttl(key) <= 100
        bf.delete()
        assert not client.exists(key)
        with pytest.raises(Error, match="is lost"):
            bf.add("x")


def calls(bf):
    return (
        lambda: bf.add("new"),
        lambda: "x" in bf,
        lambda: bf.update(["new"]),
        lambda: bf.contains_many(["x"]),
        lambda: bf.bitset,
        bf.clear,
        lambda: bf.fill_ratio,
    )


def check_parts_against_memory(client, key="parts", **options):
    """Growing and forgetting filters through a client: the same answers and bits as in memory."""
    check_growing_counts_against_memory(client, key, **options)
    now = [1_000_000.0]
    for scheme in ("classic", "block", "block2"):
        grows = {"n": 100, "p": 0.001, "grow": 2.0, "scheme": scheme}
        forgets = {"n": 3000, "p": 0.001, "window": 60, "parts": 6, "scheme": scheme}
        for spec in (grows, forgets | {"clock": lambda: now[0]}):
            memory = BloomFilter(**spec)
            with BloomFilter(**spec, storage=client, key=key, **options) as bf:
                for i in range(8):
                    keys = [f"k{j}" for j in range(300 * i, 300 * i + 500)]
                    assert bf.add_many(keys) == memory.add_many(keys)
                    assert bf.add(f"x{i}") and not bf.add(f"x{i}") and memory.add(f"x{i}")
                    asked = [f"k{j}" for j in range(4000)]
                    assert bf.contains_many(asked) == memory.contains_many(asked)
                    now[0] += 10
                assert len(bf.part_info()) == len(memory.part_info()) > 1
                assert bf.copy() == memory and len(bf.copy()) == len(memory)
                bf |= memory
                clock = {"clock": spec["clock"]} if "clock" in spec else {}
                with BloomFilter.open(client, key=key, **clock) as again:
                    assert again == bf and again.contains_many(asked) == memory.contains_many(asked)
                bf.clear()
                assert "x7" not in bf and bf.add("x7")
                client.delete(key)
                with pytest.raises(Error, match="is lost"):
                    bf.contains_many(["y1", "y2"])
                with pytest.raises(Error, match="is lost"):
                    "y" in BloomFilter.open(client, key=key, **clock)
            client.flushall()


def check_growing_counts_against_memory(client, key, **options):
    """Filters that count and grow, by two handles: one that grows them, and one that follows."""
    keys = [f"k{i}" for i in range(900)]
    for scheme, grow in (("classic", 1.0), ("block", 2.0), ("block2", 2.0)):
        spec = {"n": 50, "p": 1e-4, "scheme": scheme, "grow": grow}
        memory = CountingBloomFilter(**spec)
        with (
            CountingBloomFilter(**spec, storage=client, key=key, **options) as bf,
            CountingBloomFilter.open(client, key=key, **options) as other,
        ):
            for some in (keys[:300], keys[100:900], keys[5:10] * 9):
                assert bf.add_many(some) == memory.add_many(some)
                assert other.contains_many([*keys, "no"]) == memory.contains_many([*keys, "no"])
                assert other.remove_many(some[::3]) == memory.remove_many(some[::3])
                assert bf.count_many([*keys, "no"]) == memory.count_many([*keys, "no"])
            assert len(bf.part_info()) == len(memory.part_info()) > 1
            assert bf == memory and other == memory and bf.copy() == memory
            assert bf.to_plain() == memory.to_plain() and len(other) == len(memory)
            assert CountingBloomFilter.from_bytes(other.to_bytes()) == memory
            assert bf.add("one") and not other.add("one") and bf.count_of("one") == 2
            assert other.remove("one") and bf.remove("one") and not other.remove("one")
            assert "one" not in bf and not bf.count_of("one") and other == memory
            for unite in (bf.update, bf.__ior__, bf.union):
                with pytest.raises(ValueError, match="that count and grow cannot be united"):
                    unite(memory)
            with CountingBloomFilter.open(client, key=key, read_only=True) as reader:
                assert reader.count_many(keys) == memory.count_many(keys)
                with pytest.raises(Error, match="read-only"):
                    reader.remove("k1")
            bf.expire(100)
            bf.clear()
            assert not other and not other.remove("k7") and other.add("k7") and "k7" in bf
            client.delete(key)
            for call in (bf.add, bf.remove, bf.count_of, bf.__contains__):
                with pytest.raises(Error, match="is lost"):
                    call("k7")
            client.flushall()


def check_counting_against_memory(scheme, where, others=None, **options):
    """where: what leads to the filter; others: its other users', if theirs is another."""
    spec = {"n": 3000, "p": 1e-4, "scheme": scheme, "shards": options.pop("shards", None)}
    keys = [f"k{i}" for i in range(1500)]
    memory = CountingBloomFilter(**spec)
    with (
        CountingBloomFilter(**spec, **where, **options) as bf,
        CountingBloomFilter.open(**(others or where)) as other,
    ):
        assert bf.shards == other.shards == (spec["shards"] or 1)
        for _ in range(2):
            assert bf.add_many(keys) == memory.add_many(keys)
            assert bf.contains_many(keys * 2) == memory.contains_many(keys * 2)
            some = keys[::3] + ["never"]
            assert bf.remove_many(some) == memory.remove_many(some)
            assert bf.count_many(keys) == memory.count_many(keys)
        assert bf.contains_many([*keys, "never"]) == memory.contains_many([*keys, "never"])
        assert bf.remove("k3") == memory.remove("k3") and ("k3" in bf) == ("k3" in memory)
        assert bf.add("one") and not bf.add("one") and bf.count_of("one") == 2 and "one" in other
        assert other.remove("one") and bf.remove("one") and not bf.remove("one")
        assert "one" not in bf and "one" not in other and bf == memory and other == memory
        assert bf.copy() == memory and bf.to_plain() == memory.to_plain()
        bf |= memory
        memory |= memory.copy()
        assert bf == memory and CountingBloomFilter.from_bytes(bf.to_bytes()) == memory
        with pytest.raises(Error, match="intersect"):
            bf &= memory
        assert bf.rebuild(keys[:20]) == 20 and bf.count_of("k7") == 1 and "k99" not in bf
        bf.expire(100)
        bf.clear()
        assert not bf and "k7" not in bf and not bf.remove("k7") and bf.add("k7")
        bf.delete()
        for call in (bf.add, bf.remove, bf.count_of):
            with pytest.raises(Error, match="is lost"):
                call("k7")
