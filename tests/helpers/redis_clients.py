"""Clients of redis-py as a home: what their tests share."""

import pytest
from bloomfilter import BloomFilter, Error
from servers import PATIENCE

redis = pytest.importorskip("redis")
pytest.importorskip("redis.asyncio")
from redis.backoff import NoBackoff  # noqa: E402
from redis.retry import Retry  # noqa: E402

FAULTS = (Error, OSError)


def plain(port, **options):
    """No retries of redis-py's own: a fault is there at once."""
    return redis.Redis(
        port=port, host="127.0.0.1", retry=Retry(NoBackoff(), 0), socket_timeout=PATIENCE, **options
    )


def patience(pool, seconds=PATIENCE):
    """So long for each reply from now on, on connections that there are and new ones: short only
    while calls may fail, or must."""
    pool.connection_kwargs["socket_timeout"] = seconds
    for connection in [*pool._available_connections, *pool._in_use_connections]:
        connection.socket_timeout = seconds
        if sock := getattr(connection, "_sock", None):
            sock.settimeout(seconds)


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


class OtherSystem:
    """Sets and reads its bits by SETBIT and GETBIT, as go-zero's filter and the PHP class do; what it
    knows is positions."""

    def __init__(self, client, key, scheme, m):
        self.redis, self.key = client, key
        self.positions = BloomFilter(m=m, scheme=scheme).hashcode  # no bit of it is set

    def add(self, key):
        for i in self.positions(key):
            self.redis.setbit(self.key, i, 1)

    def has(self, key):
        return all(self.redis.getbit(self.key, i) for i in self.positions(key))


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


def odd_replies(connection, count, replies):
    """In place of a connection's own: each is that of another command."""
    replies.feed(b":7\r\n" * count)
