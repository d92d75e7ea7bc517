"""Filters in Redis, by URL: the test's own server, the same bits as in memory, threads and forks,
faults as exceptions."""

import datetime
import errno
import pickle
import socket

import pytest

from bloomfilter import BloomFilter, Error, FullError


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
    with pytest.raises(ValueError, match="names no key"):
        BloomFilter(n=100, p=0.01, storage=url)
    with pytest.raises(ValueError, match="no Redis is given"):
        BloomFilter(n=100, p=0.01, key="x")


def test_expire_and_delete(server):
    with BloomFilter(n=100, p=0.01, storage=server.url("life")) as bf:
        bf.expire(100)
        assert (
            90 < int(server("TTL life")[1:]) <= 100 and 90 < int(server("TTL life:meta")[1:]) <= 100
        )
        bf.expire(None)
        assert server("TTL life") == ":-1\r\n"
        for wrong in (0, -1, float("nan"), 10**400):
            with pytest.raises(ValueError):
                bf.expire(wrong)
        bf.delete()
        assert server("EXISTS life life:meta") == ":0\r\n"
        with pytest.raises(Error, match="is lost"):
            bf.add("x")
        with pytest.raises(Error, match="is lost"):
            bf.contains_many(["x"])
        BloomFilter(n=100, p=0.01, storage=server.url("life")).close()
        assert bf.add("x")
    with pytest.raises(Error, match="only filters in Redis"):
        BloomFilter(10, 2).expire(1)


def test_faults_are_exceptions_that_name_the_cause(server):
    with pytest.raises(ConnectionRefusedError, match="Redis key k at 127.0.0.1"):
        BloomFilter(n=100, p=0.01, storage="redis://:s3same@127.0.0.1:1/0?key=k")
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        with pytest.raises(TimeoutError):
            BloomFilter(
                n=100,
                p=0.01,
                storage=f"redis://127.0.0.1:{deaf.getsockname()[1]}?key=k&timeout=0.2",
            )
    with BloomFilter(n=100, p=0.01, storage=server.url("killed")) as bf:
        server.stop()
        for call in (
            lambda: bf.add("x"),
            lambda: "x" in bf,
            lambda: bf.update(["x"]),
            lambda: bf.bitset,
            bf.clear,
        ):
            with pytest.raises(ConnectionError):
                call()
        server.start()
        with pytest.raises(Error, match="is lost"):
            assert "x" in bf
        BloomFilter(n=100, p=0.01, storage=server.url("killed")).close()
        assert bf.add("x") and "x" in bf


def test_what_is_for_redis_only():
    for kwargs in ({"cache": True}, {"timeout": 1}, {"retry_after": 0}, {"wait_replicas": 1}):
        with pytest.raises(ValueError, match="no Redis is given"):
            BloomFilter(10, 2, **kwargs)


def test_retry_after(server):
    """One call waits for a server that does not answer; those after it would wait an hour."""
    for wrong in (-1, -0.5, 86401, float("nan")):
        with pytest.raises(ValueError, match="retry_after must be 0 to 86400 seconds"):
            BloomFilter(n=10, p=0.1, storage=server.url("t"), retry_after=wrong)
    with pytest.raises(TypeError, match="retry_after"):
        BloomFilter(n=10, p=0.1, storage=server.url("t"), retry_after="1")
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
        for tries in ({"timeout": 0.01, "retry_after": 0}, {"timeout": 0.01, "retry_after": 1e-9}):
            with pytest.raises(TimeoutError) as again:
                BloomFilter.open(url + "&retry_after=1000", **tries)
            assert "did not answer" not in str(again.value)


def test_timeout_and_wait_replicas(server):
    for wrong in (0, -1, 1e6, float("nan")):
        with pytest.raises(ValueError, match="timeout"):
            BloomFilter(n=10, p=0.1, storage=server.url("t"), timeout=wrong)
    with BloomFilter(n=100, p=0.01, storage=server.url("t"), wait_replicas=1, timeout=1.5) as bf:
        with pytest.raises(Error, match="added, but only 0 of wait_replicas=1"):
            bf.add("x")
        assert "x" in bf


@pytest.mark.parametrize("variant", [{}, {"grow": 2.0}, {"window": 3600.0}], ids=str)
def test_who_went_on_after_a_loss_is_told_of_the_next_one(redis_by_url, variant):
    """What was lost came back (a backup, a failover), and the handle worked with it again."""
    server = redis_by_url
    server("FLUSHALL")
    url = server.url("back")
    a = BloomFilter(n=100, p=1e-9, storage=url, **variant)
    a.add("x")
    names = server("KEYS *").split()
    names = [name for name in names if "back" in name]
    for i, name in enumerate(names):
        server(f"RENAME {name} away{i}")
    with pytest.raises(Error, match="is lost"):
        a.sync() or len(a)
        assert "x" in a
    for i, name in enumerate(names):
        server(f"RENAME away{i} {name}")
    assert "x" in a and a.add("y")
    server("FLUSHALL")
    BloomFilter(n=100, p=1e-9, storage=url, **variant)
    with pytest.raises(Error, match="was re-created"):
        assert "y" in a
    assert "y" not in a


def test_n_alone_where_the_scheme_fixes_the_rest(server, tmp_path):
    for scheme in ("gozero", "rs-rand", "rs-dotnet"):
        for storage in (server.url(scheme), tmp_path / scheme):
            with BloomFilter(n=1000, scheme=scheme, storage=storage) as bf:
                assert (bf.m, bf.k) == (
                    BloomFilter(n=1000, scheme=scheme).m,
                    BloomFilter(n=1000, scheme=scheme).k,
                )
                assert bf.add("x")
            with BloomFilter(n=1000, scheme=scheme, storage=storage) as bf:
                assert "x" in bf


def test_fpr_is_estimated_as_in_memory(server):
    given = {"scheme": "scrapy-redis-bloomfilter", "n": 1000, "m": 2**22, "warn": False}
    here = BloomFilter(**given)
    here.update(b"%08x" % (i * 0x9E3779B9 % 2**32) for i in range(100_000))
    with BloomFilter(**given, storage=server.url("s")) as there:
        there |= here
        assert (there.fpr, len(there)) == (here.fpr, len(here)) and here.fpr > 0


def test_is_current(redis_server):
    redis_server("FLUSHALL")
    bf = BloomFilter(n=1000, p=0.01, storage=redis_server.url("current"))
    assert bf.is_current
    redis_server("FLUSHALL")
    assert not bf.is_current


def test_expire_takes_a_timedelta(redis_server):
    redis_server("FLUSHALL")
    bf = BloomFilter(n=100, p=0.01, storage=redis_server.url("seen"))
    bf.expire(datetime.timedelta(hours=1))
    assert 3000 < bf._expires_in() < 3601
    with pytest.raises(ValueError, match="seconds must be above 0"):
        bf.expire(datetime.timedelta(0))


def test_errno_is_there(redis_server):
    redis_server("FLUSHALL")
    with pytest.raises(Error) as missing:
        BloomFilter.open(redis_server.url("none"))
    assert missing.value.errno == errno.ENOENT
    with pytest.raises(Error) as damaged:
        BloomFilter.from_bytes(b"x")
    assert damaged.value.errno is None and FullError.errno is Error.errno is None
