"""Filters in Redis, by URL: the test's own server, the same bits as in memory, threads and forks,
faults as exceptions."""

import collections
import contextlib
import multiprocessing
import os
import pickle
import re
import random
import signal
import socket
import threading
import time

import pytest

from bloomfilter import BloomFilter, CountingBloomFilter, Error
from threads import in_threads


@pytest.fixture(scope="module")
def server(redis_by_url):
    return redis_by_url


@pytest.fixture(autouse=True)
def empty(server):
    server("FLUSHALL")


def test_the_same_bits_as_in_memory(server, scheme):
    keys = [f"k{i}" for i in range(3000)]
    with BloomFilter(n=5000, p=0.01, scheme=scheme, storage=server.url("seen")) as bf:
        memory = BloomFilter(n=5000, p=0.01, scheme=scheme)
        assert bf.add_many(keys[:2000]) == memory.add_many(keys[:2000])
        assert bf.contains_many(iter(keys)) == memory.contains_many(keys)
        assert bf.update(keys[1990:2010]) == memory.update(keys[1990:2010])
        assert bf.add("x") and not bf.add("x") and "x" in bf and b"y" not in bf
        memory.add("x")
        assert bf.bitset == memory.bitset and bf == memory and bf.copy() == memory
        assert len(bf) == len(memory) and bf.fill_ratio == memory.fill_ratio and bool(bf)
        assert bf.to_bytes() == memory.to_bytes()
        other = BloomFilter(n=5000, p=0.01, scheme=scheme)
        other.add("z")
        bf |= other
        assert "z" in bf and (bf | other) == bf
        other |= bf
        assert other == bf
        with BloomFilter.open(server.url("seen")) as again:
            assert again == bf and (again.n, again.p) == (5000, 0.01)
        bf.clear()
        assert not bf and "x" not in bf


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


def test_other_threads_run_during_a_trip(server):
    with BloomFilter(n=100, p=0.01, storage=server.url("slow")) as bf:
        bf.add("x")
        answers = []
        threads = [
            threading.Thread(target=lambda call=call: answers.append(call()))
            for call in (lambda: "x" in bf, lambda: bf.contains_many(["x"]))
        ]
        os.kill(server.process.pid, signal.SIGSTOP)
        try:
            for thread in threads:
                thread.start()
            for _ in range(50):
                time.sleep(0.001)
            assert not answers  # this thread ran before any answer came
        finally:
            os.kill(server.process.pid, signal.SIGCONT)
        for thread in threads:
            thread.join()
        assert sorted(map(bool, answers)) == [True, True]


def test_threads_share_one_filter(server):
    with BloomFilter(n=10_000, p=1e-5, storage=server.url("threads")) as bf:
        fresh = []
        in_threads(*[lambda: fresh.append(bf.update(f"k{i}" for i in range(1000)))] * 4)
        assert sum(fresh) == 1000


def add_some(bf, name, queue):
    queue.put(
        sum(bf.add(f"{name}-{i}") for i in range(300))
        + sum(f"{name}-{i}" in bf for i in range(300))
    )


def test_children_of_a_fork(server):
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    with BloomFilter(n=10_000, p=1e-6, storage=server.url("fork")) as bf:
        bf.add("parent")
        children = [context.Process(target=add_some, args=(bf, name, queue)) for name in "abc"]
        for child in children:
            child.start()
        mine = sum(bf.add(f"p-{i}") for i in range(300))
        assert [queue.get(timeout=30) for _ in children] == [600] * 3 and mine == 300
        for child in children:
            child.join()
        assert "parent" in bf and "a-7" in bf


@pytest.mark.parametrize("shards", [2, 5])
def test_shards(server, scheme, shards, tmp_path):
    keys = [f"k{i}" for i in range(3000)]
    memory = BloomFilter(m=50_000, k=6, scheme=scheme, shards=shards)
    with BloomFilter(m=50_000, k=6, scheme=scheme, shards=shards, storage=server.url("seen")) as bf:
        assert (
            bf.shards == memory.shards == bf.copy().shards == shards
            and BloomFilter(10, 2).shards == 1
        )
        assert bf.add_many(keys[:2000]) == memory.add_many(iter(keys[:2000]))
        assert bf.contains_many(keys) == memory.contains_many(keys)
        assert (
            bf.bitset == memory.bitset
            and bf == memory
            and bf.to_bytes() == memory.to_bytes()
            and len(bf) == len(memory)
        )
        assert {position * shards // bf.m for position in bf.hashcode("one")} == {
            bf.hashcode("one")[0] * shards // bf.m
        }
        assert (
            pickle.loads(pickle.dumps(bf)).shards == shards
            and pickle.loads(pickle.dumps(memory)) == memory
        )
        memory.save(tmp_path / "a")
        assert BloomFilter.open(tmp_path / "a").shards == shards
        with pytest.raises(Error, match=f"has shards={shards}, asked for shards=3"):
            BloomFilter.open(server.url("seen"), shards=3)
        with BloomFilter(m=50_000, k=6, scheme=scheme, storage=server.url("seen")) as same:
            assert same.shards == shards
        plain = BloomFilter(m=memory.m, k=6, scheme=scheme)
        plain.update(keys[:2000])
        assert (plain == memory) is (scheme == "block")
        other = BloomFilter(m=50_000, k=6, scheme=scheme, shards=shards)
        other.update(keys[1990:])
        bf &= other
        memory &= other
        assert bf == memory
        bf |= other
        assert bf == other
        server("DEL seen:1")
        with pytest.raises(Error, match="Redis key seen:1 at .* is lost"):
            bf.contains_many(keys)
        BloomFilter(m=50_000, k=6, scheme=scheme, shards=shards, storage=server.url("seen")).close()
        bf.update(keys[1990:])
        assert bf == other
        bf.delete()
    assert server("DBSIZE") == ":0\r\n"


def test_shards_refused(server):
    for scheme in ("php-mt", "guava", "gozero"):
        with pytest.raises(ValueError, match=f"shards must be 1 for scheme {scheme}"):
            BloomFilter(m=2048, k=None if scheme == "gozero" else 3, scheme=scheme, shards=2)
    assert BloomFilter.plan(m=2**32 - 5, k=3, storage=server.url("large"))["m"] == 2**32
    with pytest.raises(ValueError, match="need more shards"):
        BloomFilter(m=2**33, k=3, shards=1, storage=server.url("large"))


def commands(server):
    server.asked = getattr(server, "asked", 0) + 2  # INFO, QUIT
    return int(re.search(r"total_commands_processed:(\d+)", server("INFO stats"))[1]) - server.asked


def test_cache(server):
    keys = [f"k{i}" for i in range(1000)]
    with (
        BloomFilter(
            n=5000, p=1e-4, storage=server.url("seen"), cache=True, cache_max_age=1e6
        ) as bf,
        BloomFilter.open(server.url("seen")) as other,
    ):
        assert bf.update(keys) == 1000
        before = commands(server)
        assert (
            bf.update(keys) == 0
            and bf.contains_many(keys) == b"\1" * 1000
            and "k7" in bf
            and not bf.add("k7")
        )
        assert commands(server) == before
        assert "absent" not in bf and commands(server) > before
        assert other.add("new") and "new" in bf
        other.clear()
        assert "absent" not in bf and "k7" not in bf and bf.contains_many(keys) == bytes(1000)
        assert bf.add("k7")
        other.delete()
        for call in (lambda: "absent" in bf, lambda: "k7" in bf, lambda: bf.add("k7")):
            with pytest.raises(Error, match="is lost"):
                call()
    with (
        BloomFilter(
            n=5000, p=1e-4, storage=server.url("seen"), cache=True, cache_max_age=0.01
        ) as bf,
        BloomFilter.open(server.url("seen")) as other,
    ):
        bf.update(keys)
        other.clear()
        time.sleep(0.05)
        assert "k7" not in bf


def test_what_is_for_redis_only():
    for kwargs in (
        {"cache": True},
        {"timeout": 1},
        {"retry_after": 0},
        {"wait_replicas": 1},
    ):
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


class Proxy:
    """Between clients and a Redis; after hang() old connections are closed and new ones hang."""

    def __init__(self, port):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port, self.redis = self.listener.getsockname()[1], port
        self.sockets, self.hangs = [], False
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                here = self.listener.accept()[0]
                self.sockets.append(here)
                if self.hangs:
                    continue
                there = socket.create_connection(("127.0.0.1", self.redis))
                self.sockets.append(there)
                for pair in ((here, there), (there, here)):
                    threading.Thread(target=self.copy, args=pair, daemon=True).start()

    def copy(self, source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                target.sendall(data)

    def hang(self):
        self.hangs = True
        for one in self.sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def close(self):
        for one in [self.listener, *self.sockets]:
            one.close()


@pytest.mark.parametrize("call", [lambda f: "x" in f, lambda f: f.add("y")])
def test_retry_after_of_handles_whose_connections_are_closed(server, call):
    """The first call waits for a new connection; the others would wait as long, one by one."""
    with contextlib.closing(Proxy(server.port)) as proxy:
        filters = [
            BloomFilter(
                n=100,
                p=0.01,
                storage=f"redis://127.0.0.1:{proxy.port}?key=closed{i}",
                timeout=1,
                retry_after=1000,
            )
            for i in range(4)
        ]
        for one in filters:
            one.add("x")
        proxy.hang()
        with pytest.raises(OSError):
            call(filters[0])
        for one in filters[1:]:
            with pytest.raises(TimeoutError, match="it did not answer"):
                call(one)


def test_timeout_and_wait_replicas(server):
    for wrong in (0, -1, 1e6, float("nan")):
        with pytest.raises(ValueError, match="timeout"):
            BloomFilter(n=10, p=0.1, storage=server.url("t"), timeout=wrong)
    with BloomFilter(n=100, p=0.01, storage=server.url("t"), wait_replicas=1, timeout=1.5) as bf:
        with pytest.raises(Error, match="added, but only 0 of wait_replicas=1"):
            bf.add("x")
        assert "x" in bf


@pytest.mark.parametrize("shards", [None, 3])
def test_rebuild(server, shards):
    with (
        BloomFilter(n=5000, p=1e-5, shards=shards, storage=server.url("re")) as bf,
        BloomFilter.open(server.url("re")) as other,
    ):
        bf.update(f"old{i}" for i in range(1000))
        bf.expire(1000)
        seen = []

        def keys():
            for i in range(1500):
                if i == 1000:
                    seen.append(("old1" in other, "new1" in other, other.add("meanwhile")))
                yield f"new{i}"
                yield f"new{i}"

        assert bf.rebuild(keys()) == 1500 and seen == [(True, False, True)]
        assert other.contains_many(f"new{i}" for i in range(1500)) == b"\1" * 1500
        assert (
            not any(other.contains_many(f"old{i}" for i in range(1000)))
            and "meanwhile" not in other
        )
        assert int(server(f"TTL re{':2' if shards else ''}")[1:]) > 900
        for wrong in ("text", 5, ["a", None]):
            with pytest.raises(TypeError):
                bf.rebuild(wrong)

        def closes():
            yield "a"
            bf.close()

        with pytest.raises(Error, match="filter"):
            bf.rebuild(closes())
        assert "new1" in other and "a" not in other
        assert bf.rebuild([]) == 0 and "new1" not in other and not other
        with (
            BloomFilter.open(server.url("re"), read_only=True) as reader,
            pytest.raises(Error, match="read-only"),
        ):
            reader.rebuild(["a"])
        other.delete()
        with pytest.raises(Error, match="is lost"):
            bf.rebuild(["a"])
    assert server("DBSIZE") == ":0\r\n"


def test_counters_against_a_multiset(server):
    rng = random.Random(1)
    exact = collections.Counter()
    with CountingBloomFilter(n=4000, p=1e-8, storage=server.url("counters")) as bf:
        for _ in range(50):
            keys = [rng.randrange(1500) for _ in range(2000)]
            if rng.random() < 0.55:
                for key, new in zip(keys, bf.add_many(keys)):
                    assert new == (exact[key] == 0)
                    exact[key] = min(exact[key] + 1, 15)
            else:
                for key, removed in zip(keys, bf.remove_many(keys)):
                    assert removed == (exact[key] > 0)
                    exact[key] -= 0 < exact[key] < 15
        counts = bf.count_many(range(1500))
        assert all(
            count >= exact[key] and (count > 0) == (exact[key] > 0)
            for key, count in enumerate(counts)
        )
        assert (
            bf.add("x")
            and bf.count_of("x") == 1
            and bf.remove("x")
            and not bf.remove("x")
            and "x" not in bf
        )
        info = bf.info()
        assert (
            info["home"] == "redis"
            and info["counting"]
            and "counters" in info["storage"]
            and info["ones"] > 0
        )
        memory = bf.copy()
        assert (
            memory == bf
            and bf <= memory
            and bf.to_plain().fill_ratio == bf.fill_ratio
            and not bf.saturated
        )
        bf |= memory
        assert bf == memory | memory and bf > memory
        twin = pickle.loads(pickle.dumps(bf))
        assert type(twin) is CountingBloomFilter and twin == bf
        twin.close()
    with pytest.raises(Error, match="is a counting filter, asked for a plain one"):
        BloomFilter.open(server.url("counters"))


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
