"""Batches in Redis: one round trip for every 1000 keys, whatever the keys come in.

MONITOR shows it: a trip of tests ends by reading the mark, an u32 (of a filter so large that tests
do not read all of it by one command); one of adds has a script for each 1024 positions, so how many
scripts there are follows from where the trips end."""

import itertools
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
    return seen.count(b'"u32"'), seen.count(b'"EVAL"')


def of_adds(count, k=7, trip=1000):
    ends = [*range(0, count, trip), count]
    return 0, sum(-(-(b - a) // (1024 // k)) for a, b in itertools.pairwise(ends))


def of_tests(count, trip=1000):
    return -(-count // trip), 0


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
@pytest.mark.parametrize("count", [1000, 3001])
def test_a_trip_for_every_1000_keys(server, form, count):
    keys = [f"{i:010x}" for i in range(count)]
    server("FLUSHALL")
    with BloomFilter(m=80_000_000, k=7, storage=server.url("trips", "&timeout=60")) as bf:
        for call, expected in (
            (bf.update, of_adds),
            (bf.add_many, of_adds),
            (bf.contains_many, of_tests),
        ):
            made = MADE[form](keys)
            assert trips(server, lambda call=call, made=made: call(made)) == expected(count)


def test_lines(server):
    server("FLUSHALL")
    data = b"".join(b"%d\n" % i for i in range(2001))
    with BloomFilter(m=80_000_000, k=7, storage=server.url("trips", "&timeout=60")) as bf:
        assert trips(server, lambda: bf.update_lines(data)) == of_adds(2001)
        assert trips(server, lambda: bf.contains_lines(data)) == of_tests(2001)


def test_of_more_positions_than_a_trip_has(server):
    """A trip has 2^16 positions at most."""
    server("FLUSHALL")
    with BloomFilter(m=80_000_000, k=128, storage=server.url("trips", "&timeout=60")) as bf:
        assert trips(server, lambda: bf.update(range(1024))) == of_adds(1024, 128, 512)
        assert trips(server, lambda: bf.contains_many(range(1024))) == of_tests(1024, 512)
