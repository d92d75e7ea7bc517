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
