"""created: whether this constructor made the filter; and one exception for whoever had it open when
Redis re-created it."""

import pickle

import pytest

from bloomfilter import BloomFilter, CountingBloomFilter


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


@pytest.fixture(params=["memory", "file", "URL", "client"])
def home(request, tmp_path):
    if request.param == "memory":
        return {}
    if request.param == "file":
        return {"storage": tmp_path / "f"}
    server = request.getfixturevalue("redis_by_url")
    server("FLUSHALL")
    if request.param == "URL":
        return {"storage": server.url("seen")}
    redis = pytest.importorskip("redis")
    return {"storage": redis.Redis(port=server.port), "key": "seen"}


def test_a_rebuild_has_filled_it(home):
    first = BloomFilter(n=100, p=0.01, **home)
    first.add("a")
    first.clear()
    assert first.created
    with pytest.raises(ZeroDivisionError):
        first.rebuild(1 // n for n in (1, 0))
    assert first.created
    first.rebuild(["a"])
    assert not first.created and "a" in first
