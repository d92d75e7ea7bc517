"""Filters whose names in Redis collide, on client objects of redis-py: one server, and a cluster of
three masters.  What one of them does takes no key from the other, and what is refused names the
other.  All pairs, and what happens to the stored bytes: tests/c/test_redis_names.c."""

import shutil

import pytest
from bloomfilter import BloomFilter, CountingBloomFilter, Error
from redis_clients import plain, redis
from servers import Cluster

KEYS = [f"a{i}" for i in range(60)]
OTHERS = [f"b{i}" for i in range(20)]
KINDS = {
    "fixed": {"m": 4000, "k": 5},
    "cache": {"m": 4000, "k": 5, "cache": True},
    "counting": {"m": 4000, "k": 5},
    "shards": {"m": 6000, "k": 5, "shards": 2},
    "grow": {"n": 20, "p": 1e-4, "grow": 2},
    "window": {"n": 100, "p": 1e-4, "window": 4000},
}
NAMES = ["s", "{s}", "s:0", "{s}:0", "s:meta", "{s}:meta", "{s}::meta"]


@pytest.fixture(scope="module", params=["one server", "a cluster"])
def client(request, tmp_path_factory):
    if request.param == "one server":
        yield plain(request.getfixturevalue("redis_server").port)
        return
    assert shutil.which("redis-cli"), "install redis-tools"
    cluster = Cluster(tmp_path_factory.mktemp("owners"))
    yield redis.RedisCluster(host="127.0.0.1", port=cluster.servers[0].port, socket_timeout=5)
    cluster.stop()


def made(client, kind, name):
    cls = CountingBloomFilter if kind == "counting" else BloomFilter
    return cls(storage=client, key=name, **KINDS[kind])


def opened(client, kind, name):
    cls = CountingBloomFilter if kind == "counting" else BloomFilter
    return cls.open(client, key=name)


def use(client, kind, name, bf):
    """Everything that may reach another's keys; then it is as before: empty."""
    fresh = OTHERS[0]
    bf.update(OTHERS)
    twin = None
    if kind not in ("grow", "window"):
        twin = bf.copy()
        bf |= twin
        assert bf.rebuild(OTHERS) == len(OTHERS)
    assert all(opened(client, kind, name).contains_many(OTHERS)) and fresh in bf
    assert all(bf.copy().contains_many(OTHERS))
    bf.clear()
    assert fresh not in bf
    bf.expire(1000)
    bf.expire(None)


@pytest.mark.parametrize("second", KINDS)
@pytest.mark.parametrize("first", KINDS)
def test_neither_takes_a_key_from_the_other(client, first, second):
    for name in NAMES[1:]:
        client.flushall()
        a = made(client, first, "s")
        a.update(KEYS)
        size = client.dbsize()
        try:
            b = made(client, second, name)
        except (Error, ValueError) as refused:
            assert "s" in str(refused) and client.dbsize() == size, name
            continue
        use(client, second, name, b)
        assert all(a.contains_many(KEYS)) and all(opened(client, first, "s").contains_many(KEYS))
        use(client, first, "s", a)
        a.update(KEYS)
        b.delete()
        assert all(a.contains_many(KEYS)) and all(opened(client, first, "s").contains_many(KEYS))
        a.delete()
        assert client.dbsize() == 0, name


def test_what_was_left_of_the_filter_before_is_not_taken(client):
    client.flushall()
    kind = "shards"
    a = made(client, kind, "s")
    a.update(KEYS)
    in_cluster = isinstance(client, redis.RedisCluster)
    meta = "{s:0}:meta" if in_cluster else "s:0:meta"
    left = {name: client.dump(name) for name in ("s:0", meta)}
    assert all(left.values())
    a.delete()
    with made(client, kind, "s") as b:
        b.update(OTHERS)
    for name, value in left.items():
        client.restore(name, 0, value, replace=True)
    with pytest.raises(Error, match="left over from another filter"):
        opened(client, kind, "s").contains_many(OTHERS)
