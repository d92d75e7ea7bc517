"""created: whether this constructor made the filter; and one exception for whoever had it open when
Redis re-created it."""

import pickle

import pytest

from bloomfilter import BloomFilter, CountingBloomFilter, Error


def test_memory_copies_and_bytes(tmp_path):
    made = BloomFilter(n=1000, p=0.01)
    assert made.created is True
    made.add("a")
    assert made.created is True
    for other in (
        made.copy(),
        made | made,
        made & made,
        BloomFilter.from_bytes(made.to_bytes()),
        pickle.loads(pickle.dumps(made)),
    ):
        assert other.created is False
    made.save(tmp_path / "saved")
    assert BloomFilter.load(tmp_path / "saved").created is False
    assert CountingBloomFilter(n=100, p=0.01).created is True
    assert BloomFilter(n=100, p=0.01, grow=2).created is True
    assert BloomFilter(n=100, p=0.01, window=60).created is True
    with pytest.raises(AttributeError):
        made.created = False


@pytest.mark.parametrize("more", [{}, {"grow": 2}, {"window": 60}, {"shards": 2}])
def test_files(tmp_path, more):
    path = tmp_path / "seen.bloom"
    first = BloomFilter(n=1000, p=0.01, storage=path, **more)
    second = BloomFilter(n=1000, p=0.01, storage=path, **more)
    assert (first.created, second.created, BloomFilter.open(path).created) == (True, False, False)


@pytest.mark.parametrize(
    "more", [{}, {"grow": 2}, {"window": 60}, {"shards": 2}, {"cache": True}, "client"]
)
def test_redis_tells_once(redis_by_url, more):
    server = redis_by_url
    home = {"storage": server.url("seen")}
    if more == "client":
        redis = pytest.importorskip("redis")
        home, more = {"storage": redis.Redis(port=server.port), "key": "seen"}, {}
    server("FLUSHALL")
    first = BloomFilter(n=1000, p=0.01, **home, **more)
    assert first.created and not BloomFilter(n=1000, p=0.01, **home, **more).created
    first.update(["a", "b", "c"])
    server("FLUSHALL")
    again = BloomFilter(n=1000, p=0.01, **home, **more)
    assert again.created
    again.add("a")
    with pytest.raises(
        Error, match="was re-created: keys added before are gone .3 by this object."
    ):
        "d" in first
    assert "a" in first and "b" not in first
    assert first.add("b") and "b" in again


@pytest.mark.parametrize("home", ["memory", "file"])
def test_a_rebuild_has_filled_it(tmp_path, home):
    def opened():
        return BloomFilter(
            n=100, p=0.01, **({} if home == "memory" else {"storage": tmp_path / "f"})
        )

    first = opened()
    first.add("a")
    first.clear()
    assert first.created
    with pytest.raises(ZeroDivisionError):
        first.rebuild(1 // n for n in (1, 0))
    assert first.created
    (first if home == "memory" else opened()).rebuild(["a"])
    assert not first.created and "a" in first


def test_a_rebuild_in_redis_has_filled_it(redis_by_url):
    redis_by_url("FLUSHALL")
    first = BloomFilter(n=100, p=0.01, storage=redis_by_url.url("seen"))
    assert first.created
    first.rebuild(["a"])
    assert not first.created
