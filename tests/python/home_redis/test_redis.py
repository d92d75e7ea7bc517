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


def test_retry_after():
    """The argument is handed on: calls after the first one would wait an hour."""
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"redis://127.0.0.1:{deaf.getsockname()[1]}?key=k"
        with pytest.raises(TimeoutError):
            BloomFilter(n=100, p=0.01, storage=url, timeout=0.2, retry_after=1000)
        for opened in (BloomFilter.open, lambda *a, **b: BloomFilter(*a, n=100, p=0.01, **b)):
            with pytest.raises(TimeoutError, match="it did not answer [0-9.]+ s ago"):
                opened(storage=url, timeout=3600, retry_after=1000)


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


def test_save_and_load_with_a_url(server, tmp_path):
    seen = CountingBloomFilter(n=100, p=0.01, grow=2.0)
    seen.update(range(500))
    url = server.url("seen")
    seen.save(url)
    with CountingBloomFilter.open(url) as there:
        assert there == CountingBloomFilter.load(url) == seen
    with pytest.raises(FileExistsError, match="seen at .* exists: delete it, or use another key"):
        seen.save(url)
    with pytest.raises(Error, match="seen2 at .* does not exist"):
        CountingBloomFilter.load(url + "2")
