"""Filters in Redis, by URL: the test's own server, the same bits as in memory, threads and forks,
faults as exceptions."""

import datetime
import errno
import pickle
import socket

import pytest

from bloomfilter import BloomFilter, CountingBloomFilter, Error, FullError


@pytest.fixture(scope="module")
def server(redis_by_url):
    return redis_by_url


@pytest.fixture(autouse=True)
def empty(server):
    server("FLUSHALL")


def test_key_argument_pickle_and_repr(server):
    url = server.url("a").split("?")[0]
    with BloomFilter(n=100, p=0.01, storage=url, key="by name") as bf:
        bf.add("x")
        twin = pickle.loads(pickle.dumps(bf))
        assert "x" in twin and twin.storage == url
        twin.close()
    server("ACL SETUSER reader on >s3same ~* +@all")
    with BloomFilter(
        n=100, p=0.01, storage=url.replace("//", "//reader:s3same@"), key="by name"
    ) as bf:
        assert "x" in bf and "s3same" not in repr(bf) and "by name" in repr(bf)


def test_retry_after(server):
    """One call waits for a server that does not answer; those after it would wait an hour."""
    silent = "it did not answer [0-9.]+ s ago"
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"redis://127.0.0.1:{deaf.getsockname()[1]}?key=k"
        with pytest.raises(TimeoutError) as first:
            BloomFilter(n=100, p=0.01, storage=url, timeout=0.2, retry_after=1000)
        assert "did not answer" not in str(first.value)
        for opened in (BloomFilter.open, lambda *a, **b: BloomFilter(*a, n=100, p=0.01, **b)):
            with pytest.raises(TimeoutError, match=silent):
                opened(storage=url, timeout=3600, retry_after=1000)
            with pytest.raises(TimeoutError, match=silent):
                opened(storage=url + "&retry_after=1000", timeout=3600)
        with pytest.raises(TimeoutError) as again:
            BloomFilter.open(url + "&retry_after=1000", timeout=0.01, retry_after=0)
        assert "did not answer" not in str(again.value)


def test_expire_delete_and_is_current(server):
    with BloomFilter(n=100, p=0.01, storage=server.url("life")) as bf:
        bf.expire(datetime.timedelta(hours=1))
        assert 3000 < bf._expires_in() < 3601 and 3000 < int(server("TTL life:meta")[1:]) < 3601
        bf.expire(None)
        assert server("TTL life") == ":-1\r\n" and bf.is_current
        for wrong in (0, -1, float("nan"), 10**400, datetime.timedelta(0)):
            with pytest.raises(ValueError):
                bf.expire(wrong)
        bf.delete()
        assert server("EXISTS life life:meta") == ":0\r\n" and not bf.is_current
        with pytest.raises(Error, match="is lost"):
            bf.add("x")
    with pytest.raises(Error, match="only filters in Redis"):
        BloomFilter(10, 2).expire(1)


def test_errno_is_there(server):
    with pytest.raises(Error) as missing:
        BloomFilter.open(server.url("none"))
    assert missing.value.errno == errno.ENOENT
    with pytest.raises(Error) as damaged:
        BloomFilter.from_bytes(b"x")
    assert damaged.value.errno is None and FullError.errno is Error.errno is None


@pytest.mark.parametrize(
    "kind, more",
    [
        *((BloomFilter, more) for more in ({}, {"grow": 2.0}, {"window": 1e6}, {"shards": 3})),
        *((CountingBloomFilter, more) for more in ({}, {"grow": 2.0})),
    ],
)
def test_save_and_load_with_a_url(server, kind, more, tmp_path):
    keys = [f"key {i}" for i in range(500)]
    seen = kind(n=1000 if "grow" not in more else 100, p=0.01, **more, storage=server.url("seen"))
    seen.update(keys)
    seen.save(tmp_path / "file")
    url = seen.storage + "2"
    kind.load(tmp_path / "file").save(url)
    there = kind.open(url)
    assert there == seen and all(there.contains_many(keys)) and there.add("new") == 1
    assert kind.load(url) == there != seen
    with pytest.raises(FileExistsError, match="seen2 at .* exists: delete it, or use another key"):
        seen.save(url)
    with pytest.raises(Error, match="seen3 at .* does not exist"):
        kind.load(seen.storage + "3")
    there.delete()
    seen.save(url)
    assert kind.open(url) == seen
