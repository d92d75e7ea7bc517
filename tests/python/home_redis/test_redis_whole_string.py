"""A bitmap of m = 2^32, the longest string of Redis, through redis-py and its RedisCluster: adopted,
read, united, cached, cleared, lost.  Half a GiB each time."""

import os

import pytest
from bloomfilter import BloomFilter, Error
from redis_clients import redis
from servers import Server, free_port, until

SCHEME = {"scheme": "php-hashes:FNV,AP", "warn": False}


def room():
    for line in open("/proc/meminfo"):
        if line.startswith("MemAvailable"):
            return int(line.split()[1]) >> 20
    return 0


@pytest.fixture(params=["redis-py", "RedisCluster"])
def client(request, tmp_path):
    if "BLOOMFILTER_HALF_GIB" not in os.environ:
        pytest.skip("nox -s python_debug has room and time for half a GiB")
    if room() < 4:
        pytest.skip("needs 4 GiB of free memory")
    options = ["--cluster-enabled", "yes", "--cluster-port", free_port()]
    server = Server(tmp_path, *(options if request.param == "RedisCluster" else []))
    if request.param == "RedisCluster":  # one node: a replica would take over without the last bits
        assert server("CLUSTER ADDSLOTSRANGE 0 16383") == "+OK\r\n"
        until(lambda: "cluster_state:ok" in server("CLUSTER INFO"), "the cluster")
        yield redis.RedisCluster(host="127.0.0.1", port=server.port, socket_timeout=60)
    else:
        yield redis.Redis(host="127.0.0.1", port=server.port, socket_timeout=60)
    server.stop()


def test_the_longest_string(client):
    near = BloomFilter(n=1000, **SCHEME)
    keys = [f"key {i}" for i in range(300)]
    client.setrange("theirs", (1 << 29) - 1, b"\0")  # not grown step by step
    for key in keys[:100]:
        for position in near.hashcode(key):
            client.setbit("theirs", position, 1)
    bf = BloomFilter.open(client, key="theirs", adopt=True, cache=True, **SCHEME)
    assert bf.contains_many(keys) == b"\1" * 100 + b"\0" * 200
    near.update(keys[100:200])
    bf |= near
    assert bf.contains_many(keys) == b"\1" * 200 + b"\0" * 100
    copy = bf.copy()
    assert copy.contains_many(keys) == b"\1" * 200 + b"\0" * 100
    by_name = BloomFilter.open(client, key="theirs", warn=False)
    assert bf.contains_many(keys[:200]) == b"\1" * 200
    by_name.clear()
    assert keys[0] not in bf and bf.contains_many(keys) == bytes(300)
    bf.update(keys[200:])
    assert bf.contains_many(keys) == bytes(200) + b"\1" * 100
    client.delete("theirs")
    for f in (bf, by_name):
        with pytest.raises(Error, match="is lost"):
            f.contains_many(keys)
    with pytest.raises(Error, match="is lost"):
        bf.add("x")
