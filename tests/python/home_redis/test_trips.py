"""Batches in Redis: one round trip for every 1000 keys, whatever the keys come in.

Each trip ends by reading the mark, an u32: MONITOR shows how often.  (Of a filter so large that
tests do not read all of it by one command.)"""

import socket

import numpy
import pytest

from bloomfilter import BloomFilter


@pytest.fixture
def server(redis_by_url):
    return redis_by_url


def trips(server, call):
    with socket.create_connection(("127.0.0.1", server.port), 30) as monitor:
        monitor.sendall(b"MONITOR\r\n")
        seen = monitor.recv(5)
        call()
        server("ECHO that-was-all")
        while b"that-was-all" not in seen[-1000:]:
            seen += monitor.recv(1 << 16)
    return seen.count(b'"u32"')


MADE = {
    "list": list,
    "generator": iter,
    "numbers": lambda keys: [int(key, 16) for key in keys],
    "not ASCII": lambda keys: ["ключ " * 10 + key for key in keys],
    "long": lambda keys: [key * 60 for key in keys],
    "S array": lambda keys: numpy.array([key.encode() for key in keys]),
    "U array": lambda keys: numpy.array([key * 4 for key in keys]),
    "int array": lambda keys: numpy.array([int(key, 16) for key in keys]),
}


@pytest.mark.parametrize("form", MADE)
@pytest.mark.parametrize("count", [999, 1000, 1001, 3000])
def test_a_trip_for_every_1000_keys(server, form, count):
    keys = [f"{i:010x}" for i in range(count)]
    server("FLUSHALL")
    with BloomFilter(m=80_000_000, k=7, storage=server.url("trips")) as bf:
        for call in (bf.update, bf.add_many, bf.contains_many):
            made = MADE[form](keys)
            assert trips(server, lambda call=call, made=made: call(made)) == -(-count // 1000)


def test_lines(server):
    server("FLUSHALL")
    data = b"".join(b"%d\n" % i for i in range(2001))
    with BloomFilter(m=80_000_000, k=7, storage=server.url("trips")) as bf:
        assert trips(server, lambda: bf.update_lines(data)) == 3
        assert trips(server, lambda: bf.contains_lines(data)) == 3


def test_of_more_positions_than_a_trip_has(server):
    """A trip has 2^16 positions at most."""
    server("FLUSHALL")
    with BloomFilter(m=80_000_000, k=128, storage=server.url("trips")) as bf:
        assert trips(server, lambda: bf.update(range(1024))) == 2
        assert trips(server, lambda: bf.contains_many(range(1024))) == 2
