"""Filters in Redis under users of its ACL with few rights: those that docs/redis.md says are
enough, and less."""

import pytest

from bloomfilter import BloomFilter, CountingBloomFilter, Error

WRITER = "+@read +@write +eval +auth +select +time"
READER = "+@read +auth +select +time"
KINDS = {
    "plain": (BloomFilter, {}),
    "cached": (BloomFilter, {"cache": True}),
    "shards": (BloomFilter, {"shards": 3}),
    "grows": (BloomFilter, {"grow": 2.0}),
    "forgets": (BloomFilter, {"window": 1000.0}),
    "counts": (CountingBloomFilter, {}),
}


@pytest.fixture(autouse=True)
def server(redis_by_url):
    redis_by_url("FLUSHALL")
    return redis_by_url


@pytest.fixture
def login(server):
    """login(rights, keys): the URL of key `own` for a user who has these only."""

    def login(rights, *keys):
        assert (
            server(
                f"ACL SETUSER user reset on >s3same {' '.join('~' + key for key in keys)} {rights}"
            )
            == "+OK\r\n"
        )
        return server.url("own").replace("//", "//user:s3same@")

    return login


def keys_of(key):
    return [key, f"{key}:meta", f"{{{key}}}:tmp:*"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_rights_of_a_writer(login, server, kind):
    cls, more = KINDS[kind]
    keys = keys_of("own")
    if kind == "shards":
        keys += [
            name for i in range(3) for name in (f"own:{i}", f"own:{i}:meta", f"{{own:{i}}}:tmp:*")
        ]
    url = login(WRITER, *keys)
    local = cls(n=1000, p=0.01, **({k: v for k, v in more.items() if k in ("grow", "window")}))
    local.add("local")
    with cls(n=1000, p=0.01, storage=url, **more) as bf, cls.open(url) as other:
        assert bf.update(str(i) for i in range(3000)) > 2000 and bf.add("one") and "one" in bf
        assert (
            other.contains_many(["one", "5"]) == b"\1\1"
            and len(bf) > 0
            and bf.copy().contains_many(["one"]) == b"\1"
        )
        if kind in ("plain", "cached", "counts"):
            bf |= local
            assert "local" in bf
        if kind == "plain":
            bf &= local
            assert "local" in bf
        if kind == "counts":
            assert bf.remove("one")
        bf.sync()
        bf.clear()
        if kind != "forgets":
            bf.expire(1000)
        if kind in ("plain", "cached"):
            bf.rebuild(["a"])
        bf.add("last")
        bf.delete()
    assert server("DBSIZE") == ":0\r\n"


@pytest.mark.parametrize("kind", KINDS)
def test_the_rights_of_a_reader(login, server, kind):
    cls, more = KINDS[kind]
    with cls(n=1000, p=0.01, storage=server.url("own"), **more) as bf:
        bf.update(["a", "b"])
        url = login(READER, "*")
        with cls.open(url, read_only=True) as reader:
            assert (
                "a" in reader and "c" not in reader and reader.contains_many(["b", "c"]) == b"\1\0"
            )
            assert len(reader) == 2 and reader.copy().contains_many(["a"]) == b"\1"
            with pytest.raises(Error, match="read-only"):
                reader.add("c")
        with cls.open(url) as reader, pytest.raises(Error, match="NOPERM"):
            reader.add("c")
        with pytest.raises(Error, match="NOPERM"):
            cls(n=1000, p=0.01, storage=url.replace("own", "new"), **more)
        assert "c" not in bf
    assert "new" not in server("KEYS *")


def test_a_filter_that_forgets_goes_by_no_other_clock_than_rediss(login, server):
    with BloomFilter(n=1000, p=0.01, storage=server.url("own"), window=1000.0) as bf:
        bf.add("a")
        with (
            BloomFilter.open(login(READER.replace(" +time", ""), "*"), read_only=True) as reader,
            pytest.raises(Error, match="time"),
        ):
            reader.existKey("a")
