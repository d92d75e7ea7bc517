"""Two handles of one filter in Redis that has lost one of its keys, in every order: who was told
nothing never hears "absent" of a key that was acknowledged."""

import itertools
import re

import pytest

from bloomfilter import BloomFilter, Error

KINDS = [
    {"n": 1000, "p": 0.001},
    {"n": 1000, "p": 0.001, "shards": 2},
    {"n": 12, "p": 0.001, "grow": 2},
    {"n": 1000, "p": 0.001, "window": 40_000},
]


class Handle:
    def __init__(self, f, known):
        self.f, self.known = f, set(known)

    def add(self, key, acknowledged):
        try:
            self.f.add(key)
        except Error:
            self.known.clear()
        else:
            self.known.add(key)
            acknowledged.add(key)

    def test(self, acknowledged):
        for key in sorted(self.known | acknowledged):
            try:
                assert key in self.f or key not in self.known | acknowledged
            except Error:
                self.known.clear()


def play(server, kind, gone, order):
    server("FLUSHALL")
    acknowledged = {f"n{i}" for i in range(30)}
    with BloomFilter(storage=server.url("f"), **kind) as f:
        f.update(sorted(acknowledged))
        old, new = Handle(f, acknowledged), None
        assert server(f"DEL {gone}") == ":1\r\n"
        for i, step in enumerate(order):
            if step == "construct":
                try:
                    new = Handle(BloomFilter(storage=server.url("f"), **kind), ())
                except Error:
                    continue
                if new.f.created:
                    acknowledged.clear()
            elif step == "add":
                old.add(f"old{i}", acknowledged)
            elif step == "test":
                old.test(acknowledged)
            elif new:
                new.add(f"new{i}", acknowledged)
        for handle in (new, old):
            if handle:
                handle.test(acknowledged)
                handle.f.close()


@pytest.mark.parametrize("kind", KINDS, ids=["fixed", "shards", "grow", "window"])
def test_one_key_gone_in_every_order(redis_by_url, kind):
    server = redis_by_url
    server("FLUSHALL")
    with BloomFilter(storage=server.url("f"), **kind) as f:
        f.update(f"n{i}" for i in range(30))
    names = re.findall(r"\$\d+\r\n(.*)\r\n", server("KEYS *"))
    assert len(names) >= 2
    for gone in names:
        for order in itertools.permutations(["construct", "add", "test", "other"]):
            play(server, kind, gone, order)
