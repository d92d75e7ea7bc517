"""What any client of Redis does to a filter's keys happens to the filter, whatever its kind."""

import pytest
from bloomfilter import BloomFilter, CountingBloomFilter, Error

redis_py = pytest.importorskip("redis")

KINDS = {
    "fixed": (BloomFilter, {"n": 1000, "p": 0.01}),
    "counts": (CountingBloomFilter, {"n": 1000, "p": 0.01}),
    "grows": (BloomFilter, {"n": 100, "p": 0.01, "grow": 2.0}),
    "counts and grows": (CountingBloomFilter, {"n": 100, "p": 0.01, "grow": 2.0}),
    "forgets": (BloomFilter, {"n": 1000, "p": 0.01, "window": 1e6}),
    "shards": (BloomFilter, {"n": 1000, "p": 0.01, "shards": 3}),
}
KEYS = [f"key {i}" for i in range(500)]


@pytest.fixture(params=KINDS)
def filled(request, redis_server):
    kind, given = KINDS[request.param]
    redis = redis_py.Redis(port=redis_server.port)
    redis.flushall()
    seen = kind(**given, storage=f"redis://127.0.0.1:{redis_server.port}/0?key=seen")
    seen.update(KEYS)
    return kind, given, redis, seen


def all_keys(redis):
    return sorted(key.decode() for key in redis.keys())


def test_dump_and_restore(filled, redis_server):
    kind, _, redis, seen = filled
    kept = {key: redis.dump(key) for key in redis.keys()}
    assert len(kept) == (7 if seen.info()["shards"] > 1 else 2)
    other = redis_py.Redis(port=redis_server.port, db=1)
    for key, value in kept.items():
        other.restore(key, 0, value)
    there = kind.open(f"redis://127.0.0.1:{redis_server.port}/1?key=seen")
    assert all(there.contains_many(KEYS)) and there == seen
    there.add("only there")
    assert "only there" not in seen
    before = [redis.exists(key) for key in kept]
    redis.flushdb()
    with pytest.raises(Error, match="is lost"):
        seen.add("x")
    for key, value in kept.items():
        redis.restore(key, 0, value)
    assert all(before) and all(seen.contains_many(KEYS))


def test_expire_and_persist(filled):
    kind, given, redis, seen = filled
    seen.expire(1000)
    assert all(900 < redis.ttl(key) <= 1000 for key in redis.keys())
    seen.update(f"more {i}" for i in range(500))
    assert all(900 < redis.ttl(key) <= 1000 for key in redis.keys())
    seen.expire(None)
    assert all(redis.ttl(key) == -1 for key in redis.keys())
    for key in all_keys(redis):
        assert redis.pexpire(key, 1)
    while redis.keys():
        pass
    with pytest.raises(Error, match="is lost"):
        seen.contains_many(KEYS)
    again = kind(**given, storage=seen.storage)
    assert again.created and not any(again.contains_many(KEYS[:5]))


def test_save_and_load_with_a_url(filled, tmp_path):
    kind, _, redis, seen = filled
    seen.save(tmp_path / "file")
    url = seen.storage + "2"
    kind.load(tmp_path / "file").save(url)
    there = kind.open(url)
    assert there == seen and all(there.contains_many(KEYS)) and there.add("new") == 1
    assert kind.load(url) == there != seen
    with pytest.raises(FileExistsError, match="seen2 at .* exists: delete it, or use another key"):
        seen.save(url)
    with pytest.raises(Error, match="seen3 at .* does not exist"):
        kind.load(seen.storage + "3")
    there.delete()
    seen.save(url)
    assert kind.open(url) == seen


def test_rebuild(filled):
    kind, given, _, seen = filled
    if "window" in given:
        with pytest.raises(Error, match="forgets: it cannot be rebuilt"):
            seen.rebuild(KEYS)
        return
    other = kind.open(seen.storage)
    for size in (50, 3000 if "grow" in given else 900):
        fresh = [f"fresh {i}" for i in range(size)]
        assert seen.rebuild(iter(fresh)) > size * 0.9
        assert all(other.contains_many(fresh)) and sum(other.contains_many(KEYS)) < 50
        assert other.part_info() == seen.part_info()


def test_a_saved_filter_goes_to_redis_by_a_union(filled):
    kind, given, redis, seen = filled
    if kind is CountingBloomFilter and "grow" in given:
        return  # they cannot be united in any home
    image = seen.to_bytes()
    redis.flushall()
    again = kind(**given, storage=seen.storage)
    again |= kind.from_bytes(image)
    assert all(again.contains_many(KEYS)) and again.add("new") == 1
    assert all(kind.open(seen.storage).contains_many([*KEYS, "new"]))
