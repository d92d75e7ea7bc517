"""Filters on client objects of redis-py: the same bits through every kind of client, every fault an
exception with its cause. Clusters: test_redis_client_cluster.py.  The servers are real and the
test's own."""

import errno
import functools
import multiprocessing
import os
import pickle
import random
import select
import signal
import socket
import ssl
import subprocess
import threading
import time
from collections import Counter

import pytest
from bloomfilter import BloomFilter, CountingBloomFilter, Error, _redis
from redis_clients import (
    FAULTS,
    NoBackoff,
    Retry,
    calls,
    check_against_memory,
    check_counting_against_memory,
    check_parts_against_memory,
    plain,
    redis,
)
from servers import Proxy, Server, free_port, until
from threads import in_threads


@pytest.fixture(scope="module")
def server(redis_server):
    return redis_server


@pytest.fixture
def client(server):
    server("FLUSHALL")
    return plain(server.port)


@pytest.fixture(params=["by URL", "client", "client of one connection"])
def by_url_or_client(server, request):
    server("FLUSHALL")
    if request.param == "by URL":
        return {"storage": server.url("shared")}
    one = "one" in request.param
    return {"storage": plain(server.port, single_connection_client=one), "key": "shared"}


@pytest.fixture
def proxy(server):
    server("FLUSHALL")
    proxy = Proxy(server.port)
    yield proxy
    proxy.stop()


# ---- the same bits ----
def test_the_same_bits_as_in_memory(client, scheme):
    check_against_memory(client, scheme)


OPTIONS = [
    {"protocol": 2},
    {"protocol": 3},
    {"decode_responses": True},
    {"protocol": 2, "decode_responses": True},
    {"single_connection_client": True},
    {"db": 3},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_any_options(client, server, options):
    check_against_memory(plain(server.port, **options), "block")


def test_replies_that_redis_py_has_parsed(client, server, monkeypatch):
    """A client with a cache of its own gives no bytes; such clients need Redis 7.4, so any client is
    read in the same way here."""
    monkeypatch.setattr(_redis.Loan, "receive", staticmethod(_redis.read_parsed))
    for protocol in (2, 3):
        check_against_memory(plain(server.port, protocol=protocol), "block")
        check_parts_against_memory(plain(server.port, protocol=protocol))
        client.flushall()
    with BloomFilter(n=100, p=0.01, storage=plain(server.port), key="lost") as bf:
        client.delete("lost")
        client.rpush("lost", "a")
        with pytest.raises(Error, match="WRONGTYPE|lost"):
            bf.add("a")


@pytest.mark.parametrize(
    "reply, sent",
    [
        (None, b"$-1\r\n"),
        (7, b":7\r\n"),
        (b"\r\n\0", b"$3\r\n\r\n\0\r\n"),
        ("\u00e9", b"$2\r\n\xc3\xa9\r\n"),
        (1.5, b"$3\r\n1.5\r\n"),
        ([], b"*0\r\n"),
        ({"a": [1, None]}, b"*2\r\n$1\r\na\r\n*2\r\n:1\r\n$-1\r\n"),
        (redis.exceptions.ResponseError("no\r\nline"), b"-no line\r\n"),
    ],
)
def test_parsed_replies_as_the_server_sends_them(reply, sent):
    assert _redis.encoded(reply) == sent


def test_one_of_the_commands_of_a_part():
    commands = [
        b"*1\r\n$4\r\nPING\r\n",
        b"*2\r\n$3\r\nGET\r\n$4\r\n\r\n*1\r\n",
        b"*1\r\n$0\r\n\r\n",
    ]
    part = (b"key", b"".join(commands), 5, len(commands))
    assert [_redis.command(part, 5 + i) for i in range(len(commands))] == commands


@pytest.mark.parametrize("options", [{}, {"cache": True, "cache_max_age": 5}])
def test_filters_of_parts(server, options):
    check_parts_against_memory(plain(server.port), **options)
    check_parts_against_memory(plain(server.port, decode_responses=True, protocol=3), **options)


def test_threads_share_a_filter_that_grows(server):
    with BloomFilter(n=100, p=1e-6, grow=2.0, storage=plain(server.port), key="threads") as bf:
        keys = [[f"{i} {j}" for j in range(1500)] for i in range(4)]
        in_threads(*(lambda mine=mine: bf.update(mine) for mine in keys))
        assert len(bf.part_info()) > 1 and all(all(bf.contains_many(mine)) for mine in keys)


def test_handles_grow_a_counting_filter_together(client, server):
    """Each has keys of its own: at the end they are counted exactly, and their removal leaves no
    counter."""
    key = {"key": "together"}
    wheres = [{"storage": plain(server.port), **key}, {"storage": server.url("together")}] * 2

    def work(number):
        rng, exact = random.Random(number), Counter()
        with CountingBloomFilter(n=30, p=1e-9, grow=1.0, **wheres[number]) as bf:
            for _ in range(30):
                keys = [f"{number} {i}" for i in rng.sample(range(300), rng.choice([1, 5, 40]))]
                if rng.random() < 0.6:
                    keys = [key for key in keys if exact[key] < 3]  # no counter gets to 15
                    assert bf.add_many(keys) == bytes(exact[key] == 0 for key in keys)
                    exact.update(keys)
                else:
                    assert bf.remove_many(keys) == bytes(exact[key] > 0 for key in keys)
                    exact -= Counter(keys)
                assert bf.count_many(keys) == bytes(exact[key] for key in keys)
            assert bf.remove_many(exact.elements()) == b"\1" * exact.total()

    in_threads(*(functools.partial(work, number) for number in range(4)))
    with CountingBloomFilter.open(client, **key) as bf:
        assert len(bf.part_info()) > 1 and bf.fill_ratio == 0


def test_by_socket_pool_and_url(client, server):
    check_against_memory(redis.Redis(unix_socket_path=str(server.folder / "socket")), "block")
    check_against_memory(
        redis.Redis(
            connection_pool=redis.BlockingConnectionPool(port=server.port, max_connections=1)
        ),
        "classic",
    )
    check_against_memory(redis.from_url(f"redis://127.0.0.1:{server.port}/2"), "block2")


def test_the_bits_are_those_of_the_url(client, server):
    url = f"redis://127.0.0.1:{server.port}?key=seen"
    with (
        BloomFilter(n=100, p=0.01, storage=url) as by_url,
        BloomFilter(n=100, p=0.01, storage=client, key="seen") as bf,
    ):
        assert by_url.add("x") and "x" in bf and bf.add("y") and "y" in by_url
        assert client.exists("seen:meta")
        by_url.clear()
        assert "x" not in bf and bf.add("x")


def test_tls(tmp_path):
    for name, extra in (
        ("ca", ["-x509", "-subj", "/CN=test"]),
        ("server", ["-x509", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]),
    ):
        command = f"openssl req -newkey rsa:2048 -nodes -days 2 -keyout {name}.key -out {name}.pem"
        subprocess.run([*command.split(), *extra], cwd=tmp_path, check=True, capture_output=True)
    port = free_port()
    options = {"port": port, "cert-file": tmp_path / "server.pem", "auth-clients": "no"}
    options |= {"key-file": tmp_path / "server.key", "ca-cert-file": tmp_path / "ca.pem"}
    server = Server(
        tmp_path / "tls", *(word for name in options for word in (f"--tls-{name}", options[name]))
    )
    try:
        check_against_memory(
            redis.Redis(
                host="127.0.0.1", port=port, ssl=True, ssl_ca_certs=str(tmp_path / "server.pem")
            ),
            "block",
        )
        stranger = redis.Redis(
            host="127.0.0.1",
            port=port,
            ssl=True,
            ssl_ca_certs=ssl.get_default_verify_paths().cafile,
            retry=Retry(NoBackoff(), 0),
        )
        with pytest.raises(FAULTS, match="127.0.0.1"):
            BloomFilter(n=10, p=0.1, storage=stranger, key="seen")
    finally:
        server.stop()


def test_sentinel(tmp_path):
    from redis.sentinel import Sentinel

    server = Server(tmp_path / "master")
    (tmp_path / "sentinel.conf").write_text(
        f"port {free_port()}\nbind 127.0.0.1\nsentinel monitor mine 127.0.0.1 {server.port} 1\n"
    )
    port = int((tmp_path / "sentinel.conf").read_text().split()[1])
    watch = subprocess.Popen(
        ["redis-server", tmp_path / "sentinel.conf", "--sentinel"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        sentinel = Sentinel([("127.0.0.1", port)])
        until(
            lambda: socket.create_connection(("127.0.0.1", port), 1).close() is None,
            "the sentinel's start",
        )
        check_against_memory(sentinel.master_for("mine"), "block")
    finally:
        watch.kill()
        watch.wait()
        server.stop()


def test_foreign_bitmaps(client):
    old = BloomFilter(m=20_000, k=14, scheme="gozero")
    old.update(["a", "b"])
    client.set("old", old.bitset)
    with BloomFilter.open(client, key="old", scheme="gozero", m=20_000) as bf:
        assert "a" in bf and "c" not in bf and bf.add("c")
    assert client.strlen("old") == 2500 and not client.exists("old:meta")


@pytest.mark.parametrize(
    "options", [{}, {"single_connection_client": True}, {"protocol": 3}], ids=str
)
def test_a_redis_that_comes_back_with_older_bits_is_not_known_from_before(tmp_path, options):
    server = Server(tmp_path / "redis")
    try:
        client = plain(server.port, **options)
        with BloomFilter(
            n=5000, p=1e-4, storage=client, key="seen", cache=True, cache_max_age=1e6
        ) as known:
            known.add("before")
            server("SAVE")
            assert known.add("k") and not known.add("k")
            server.stop()
            server.start()
            for _ in range(2):  # redis-py may connect anew in silence, or a fault may tell
                try:
                    known.add("another")
                except FAULTS:
                    pass
            known.add("k")
            assert "k" in known and "k" in BloomFilter.open(server.url("seen"))
            asked = server("INFO commandstats").split("cmdstat_bitfield:")[1].split(",")[0]
            assert not known.add("k")  # by heart again
            assert server("INFO commandstats").split("cmdstat_bitfield:")[1].split(",")[0] == asked
    finally:
        server.stop()


def test_shards_cache_and_rebuilding(client):
    keys = [f"k{i}" for i in range(3000)]
    for scheme in ("classic", "block"):
        with BloomFilter(n=5000, p=0.01, scheme=scheme, shards=3, storage=client, key=scheme) as bf:
            memory = BloomFilter(n=5000, p=0.01, scheme=scheme, shards=3)
            assert bf.add_many(keys[:2000]) == memory.add_many(keys[:2000]) and bf.contains_many(
                keys
            ) == memory.contains_many(keys)
            assert (
                bf == memory
                and bf.shards == 3
                and client.exists(f"{scheme}:0", f"{scheme}:2", f"{scheme}:meta") == 3
            )
            with BloomFilter.open(client, key=scheme, cache=True) as known:
                assert (
                    all(known.contains_many(keys[:2000]))
                    and "k1" in known
                    and known.add("new")
                    and not known.add("new")
                )
            assert bf.rebuild(keys[:10]) == 10 and "k9" in bf and "k1999" not in bf
    with (
        BloomFilter(n=100, p=0.01, storage=client, key="alone", wait_replicas=1) as bf,
        pytest.raises(Error, match="wait_replicas=1"),
    ):
        bf.add("x")
    with pytest.raises(ValueError, match="timeout"):
        BloomFilter(n=100, p=0.01, storage=client, key="timed", timeout=1)
    assert (
        BloomFilter.plan(m=2**32 - 5, k=3, storage=client, key="large")["m"] == 2**32
    )  # cut by itself: one key does not hold it


@pytest.mark.parametrize("options", [{}, {"shards": 3}, {"shards": 2, "cache": True}])
def test_counting_filters(client, server, scheme, options):
    by_client, by_url = {"storage": client, "key": "counts"}, {"storage": server.url("counts")}
    check_counting_against_memory(scheme, by_client, by_url, **options)
    check_counting_against_memory(scheme, by_url, by_client, **options)


def test_counting_filters_wait_for_replicas(client, tmp_path):
    where = {"storage": client, "key": "alone"}
    with CountingBloomFilter(n=100, p=0.01, **where, wait_replicas=1) as bf:
        with pytest.raises(Error, match="added, but only 0 of wait_replicas=1"):
            bf.add("x")
        with pytest.raises(Error, match="removed, but only 0 of wait_replicas=1"):
            bf.remove("x")
        assert bf.count_of("x") == 0


# ---- what it is ----
def test_properties_repr_and_pickle(client):
    with BloomFilter(n=100, p=0.01, storage=client, key="seen") as bf:
        assert bf.storage is client
        assert "seen" in repr(bf) and "127.0.0.1" in repr(bf)
        with pytest.raises(Error, match="client object"):
            pickle.dumps(bf)
        with pytest.raises(Error, match="n=100"):
            BloomFilter(n=101, p=0.01, storage=client, key="seen")
    with pytest.raises(ValueError, match="closed"):
        bf.add("x")


def test_wrong_storages(client):
    for wrong in (
        5,
        1.5,
        object(),
        [],
        client.pipeline(),
        client.pubsub(),
        redis.asyncio.Redis(),
        redis.asyncio.RedisCluster,
    ):
        with pytest.raises(TypeError, match="storage must be"):
            BloomFilter(n=100, p=0.01, storage=wrong, key="seen")
        with pytest.raises(TypeError, match="storage must be"):
            BloomFilter.open(wrong, key="seen")
    for options in ({}, {"key": ""}, {"key": None}):
        with pytest.raises(ValueError, match="key"):
            BloomFilter(n=100, p=0.01, storage=client, **options)
    with pytest.raises(Error, match="does not exist") as fault:
        BloomFilter.open(client, key="nothing")
    assert fault.value.errno == errno.ENOENT


# ---- threads, processes, signals ----
def test_threads_share_one_filter(by_url_or_client):
    with BloomFilter(n=10_000, p=1e-5, **by_url_or_client) as bf:
        fresh = []
        in_threads(
            *[
                lambda: fresh.append(
                    bf.update(f"k{i}" for i in range(1000)) + sum(f"k{i}" in bf for i in range(50))
                )
            ]
            * 4
        )
        assert sum(fresh) == 1000 + 4 * 50


def test_other_threads_run_during_a_trip(by_url_or_client, server):
    with BloomFilter(n=100, p=0.01, **by_url_or_client) as bf:
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


def add_some(bf, name, queue):
    queue.put(
        sum(bf.add(f"{name}-{i}") for i in range(200))
        + sum(f"{name}-{i}" in bf for i in range(200))
    )


def test_children_of_a_fork(by_url_or_client):
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    with BloomFilter(n=10_000, p=1e-6, **by_url_or_client) as bf:
        bf.add("parent")
        children = [context.Process(target=add_some, args=(bf, name, queue)) for name in "abc"]
        for child in children:
            child.start()
        mine = sum(bf.add(f"p-{i}") for i in range(200))
        assert [queue.get(timeout=60) for _ in children] == [400] * 3 and mine == 200
        for child in children:
            child.join()
        assert "parent" in bf and "a-7" in bf


def answers_are_right(bf):
    return all(f"k{i}" in bf for i in range(500)) and not any(f"no{i}" in bf for i in range(500))


@pytest.mark.parametrize("options", [{}, {"single_connection_client": True}], ids=str)
def test_a_child_with_its_parents_process_id(server, options, monkeypatch):
    """A child in a new pid namespace may have it; redis-py goes by that."""
    server("FLUSHALL")
    monkeypatch.setattr(os, "getpid", lambda: 7)
    with BloomFilter(n=10_000, p=1e-9, storage=plain(server.port, **options), key="ids") as bf:
        bf.update(f"k{i}" for i in range(500))
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = 0 if answers_are_right(bf) else 2
            finally:
                os._exit(code)
        assert answers_are_right(bf)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert answers_are_right(bf)


def test_ctrl_c_ends_the_wait(client, server):
    with BloomFilter(n=100, p=0.01, storage=client, key="slow") as bf:
        bf.add("x")
        sleeper = threading.Thread(target=server, args=("DEBUG SLEEP 4",))
        sleeper.start()
        until(lambda: b"x" and not answers(server), "the server's sleep")
        alarm = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        alarm.start()
        with pytest.raises(KeyboardInterrupt):
            while True:  # it may not be asleep yet: the machine was slow, not the server
                assert "x" in bf
        assert not answers(server), "the wait went on until the server woke up"
        sleeper.join()
        assert "x" in bf


def answers(server):
    with socket.create_connection(("127.0.0.1", server.port), 5) as s:
        s.settimeout(0.2)
        s.sendall(b"PING\r\n")
        try:
            return s.recv(10)
        except TimeoutError:
            return b""


def test_a_signal_handler_cannot_use_the_filter_meanwhile(client, server):
    with BloomFilter(n=100, p=0.01, storage=client, key="slow") as bf:
        bf.add("x")
        seen = []

        def handler(*_):
            try:
                seen.append("x" in bf)
            except Error as error:
                seen.append(str(error))

        before = signal.signal(signal.SIGUSR1, handler)
        try:
            sleeper = threading.Thread(target=server, args=("DEBUG SLEEP 2",))
            sleeper.start()
            until(lambda: not answers(server), "the server's sleep")
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGUSR1)).start()
            assert "x" in bf
            sleeper.join()
            until(lambda: seen, "the signal")
        finally:
            signal.signal(signal.SIGUSR1, before)
        assert seen[0] is True or "its clock, hash function or client" in seen[0]


# ---- faults ----
def raises_everywhere(bf, *, match=None, cause=None):
    for call in calls(bf):
        with pytest.raises(FAULTS, match=match) as caught:
            call()
        assert "s3same" not in str(caught.value)
        if cause:
            assert isinstance(caught.value.__cause__, cause), caught.value.__cause__


def test_no_server(client):
    nobody = plain(free_port(), password="s3same")
    with pytest.raises(ConnectionRefusedError, match="Redis key seen at 127.0.0.1") as caught:
        BloomFilter(n=10, p=0.1, storage=nobody, key="seen")
    assert isinstance(caught.value.__cause__, redis.ConnectionError) and "s3same" not in str(
        caught.value
    )
    lost = redis.Redis(host="no-such-host.invalid", retry=Retry(NoBackoff(), 0))
    with pytest.raises(FAULTS, match="no-such-host"):
        BloomFilter(n=10, p=0.1, storage=lost, key="seen")


def test_a_deaf_server():
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        client = redis.Redis(
            port=deaf.getsockname()[1], socket_timeout=0.2, retry=Retry(NoBackoff(), 0)
        )
        with pytest.raises(TimeoutError) as caught:
            BloomFilter(n=10, p=0.1, storage=client, key="seen")
        assert isinstance(caught.value.__cause__, (TimeoutError, redis.TimeoutError))


def test_killed_and_restarted(tmp_path):
    server = Server(tmp_path / "killed")
    with BloomFilter(n=100, p=0.01, storage=plain(server.port), key="seen") as bf:
        bf.add("x")
        server.stop()
        raises_everywhere(bf, cause=redis.ConnectionError)
        server.start()
        with pytest.raises(Error, match="is lost"):
            assert "x" in bf
        BloomFilter(n=100, p=0.01, storage=plain(server.port), key="seen").close()
        assert bf.add("x") and "x" in bf
    server.stop()


def test_deleted_expired_flushed_overwritten(client):
    def expire(key):
        client.pexpire(key, 1)
        until(lambda: not client.exists(key), "the end")

    for lose in (
        client.delete,
        expire,
        lambda key: client.flushall(),
        lambda key: client.set(key, "other"),
        lambda key: client.setrange(key, 0, "x") and client.delete(key),
    ):
        with BloomFilter(n=100, p=0.01, storage=client, key="seen") as bf:
            bf.add("x")
            lose("seen")
            for call in calls(bf)[:4]:
                with pytest.raises(Error, match="is lost"):
                    call()
            client.flushall()
            BloomFilter(n=100, p=0.01, storage=client, key="seen").close()
            assert bf.add("x") and "x" in bf
            client.flushall()


def test_wrong_type_and_foreign_strings(client):
    client.lpush("list", "x")
    client.set("text", "x")
    for key in ("list", "text"):
        with pytest.raises(Error, match="WRONGTYPE|not our filter"):
            BloomFilter(n=100, p=0.01, storage=client, key=key)
    with BloomFilter(n=100, p=0.01, storage=client, key="seen") as bf:
        client.delete("seen")
        client.lpush("seen", "x")
        raises_everywhere(bf, match="WRONGTYPE")


def test_refusals_of_the_server(client, server):
    server("ACL SETUSER some on >s3same ~* +@all")
    with BloomFilter(
        n=100, p=0.01, storage=plain(server.port, username="some", password="s3same"), key="seen"
    ) as bf:
        bf.add("x")
        server("ACL SETUSER some on resetkeys ~other")
        raises_everywhere(bf, match="NOPERM")
        server("ACL SETUSER some ~*")
        assert "x" in bf and bf.add("y")
        server("ACL SETUSER some off resetpass >changed")
        bf.storage.connection_pool.disconnect()
        raises_everywhere(bf, match="Redis key seen")
        server("ACL DELUSER some")
    with BloomFilter(n=100, p=0.01, storage=client, key="seen") as bf:
        server(f"REPLICAOF 127.0.0.1 {free_port()}")
        server("CONFIG SET replica-serve-stale-data yes")
        with pytest.raises(Error, match="READONLY"):
            bf.add("z")
        assert "x" in bf
        server("REPLICAOF NO ONE")
        assert bf.add("z")
        server("CONFIG SET maxmemory 1")
        with pytest.raises(Error, match="OOM"):
            bf.add("w")
        assert "x" in bf
        server("CONFIG SET maxmemory 0")
        assert bf.add("w")


def test_a_full_server_and_a_replica_count(client, server):
    with CountingBloomFilter(n=9, p=1e-9, grow=1.0, storage=client, key="seen") as bf:
        bf.update(map(str, range(30)))
        for begin, end, match in (
            ("CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0", "OOM"),
            ("REPLICAOF 127.0.0.1 1", "REPLICAOF NO ONE", "READONLY"),
        ):
            server(begin)
            assert (bf.count_of("1"), bf.count_of("29"), bf.count_of("x")) == (1, 1, 0)
            assert bf.count_many(["1", "x", "29"]) == b"\1\0\1"
            with pytest.raises(Error, match=match):
                bf.add("x")
            server(end)
        assert bf.add("x") and bf.remove("1")


def test_noauth(tmp_path):
    server = Server(tmp_path / "auth", "--requirepass", "s3same")
    with BloomFilter(
        n=100, p=0.01, storage=plain(server.port, password="s3same"), key="seen"
    ) as bf:
        assert bf.add("x")
    for client in (plain(server.port), plain(server.port, password="s3same but wrong")):
        with pytest.raises(
            FAULTS, match="NOAUTH|HELLO|[Aa]uthentication|WRONGPASS|invalid username"
        ) as caught:
            BloomFilter(n=100, p=0.01, storage=client, key="seen")
        assert "s3same" not in str(caught.value)
    server.stop()


SPOILED = {
    "garbage": lambda request, answer: b"HTTP/1.1 400 Bad Request\r\n\r\n",
    "nothing and closed": lambda request, answer: None,
    "cut in the middle": lambda request, answer: answer[: len(answer) // 2],
    "too much": lambda request, answer: answer + b":1\r\n",
    "another form": lambda request, answer: (
        b"+OK\r\n" * max(1, request.count(b"BITFIELD") + request.count(b"GETRANGE"))
    ),
    "LOADING": lambda request, answer: (
        b"-LOADING Redis is loading the dataset in memory\r\n" * max(1, request.count(b"*"))
    ),
}


@pytest.mark.parametrize("how", SPOILED)
@pytest.mark.parametrize(
    "options", [{"protocol": 2}, {"protocol": 3}, {"single_connection_client": True}], ids=str
)
def test_spoiled_answers(proxy, how, options):
    """An exception and never a wrong answer; the same object works when the network does."""
    timeout = 0.7 if how == "cut in the middle" else 1.5  # there every call waits for all of it
    client = redis.Redis(
        port=proxy.port, socket_timeout=timeout, retry=Retry(NoBackoff(), 0), **options
    )
    ours = (b"BITFIELD", b"GETRANGE", b"EVAL", b"HGETALL", b"SETRANGE", b"BITCOUNT")
    with BloomFilter(n=100, p=0.01, scheme="classic", storage=client, key="seen") as bf:
        bf.add("x")
        proxy.spoil = lambda request, answer: (
            SPOILED[how](request, answer) if any(word in request for word in ours) else answer
        )
        raises_everywhere(bf)
        with pytest.raises(FAULTS):
            BloomFilter(n=100, p=0.01, storage=client, key="other")
        proxy.spoil = None
        assert "x" in bf and "never added" not in bf
        assert bf.add("y") and not bf.add("y")


def test_an_add_whose_answer_was_lost_is_not_repeated(proxy, server):
    adds = []

    def lose(request, answer):
        if b"BITFIELD" not in request:
            return answer
        adds.append(request)
        return None

    with BloomFilter(
        n=100, p=0.01, storage=redis.Redis(port=proxy.port, retry=Retry(NoBackoff(), 3)), key="seen"
    ) as bf:
        bf.add("x")
        proxy.spoil = lose
        with pytest.raises(ConnectionResetError, match="cannot tell what was added"):
            bf.add("y")
        assert len(adds) == 1
        proxy.spoil = None
        assert "y" in bf


def test_what_a_client_raises_is_said_also_after_an_add(server, monkeypatch):
    class Odd(Exception):
        pass

    def spoilt(*_):
        raise Odd("no way")

    client = plain(server.port, single_connection_client=True)
    for call, says in (
        (lambda bf: bf.add("y"), "cannot tell what was added: .*no way"),
        (lambda bf: "y" in bf, "no way"),
    ):
        with (
            BloomFilter(n=100, p=0.01, storage=client, key="odd") as bf,
            monkeypatch.context() as patch,
        ):
            patch.setattr("bloomfilter._redis.Loan.receive", staticmethod(spoilt))
            with pytest.raises(Error, match=says) as caught:
                call(bf)
            assert type(caught.value.__cause__) is Odd


def test_a_read_is_sent_once_more(proxy):
    asked = []

    def lose_first(request, answer):
        asked.append(request)
        return None if len(asked) == 1 else answer

    with BloomFilter(
        n=100, p=0.01, storage=redis.Redis(port=proxy.port, retry=Retry(NoBackoff(), 0)), key="seen"
    ) as bf:
        bf.add("x")
        proxy.spoil = lose_first
        assert "x" in bf and len(asked) > 1


def test_connections_come_back_to_the_pool(proxy):
    pool = redis.BlockingConnectionPool(
        port=proxy.port,
        max_connections=1,
        timeout=1,
        socket_timeout=0.5,
        retry=Retry(NoBackoff(), 0),
    )
    with BloomFilter(n=100, p=0.01, storage=redis.Redis(connection_pool=pool), key="seen") as bf:
        bf.add("x")
        for how in SPOILED.values():
            proxy.spoil = how
            with pytest.raises(FAULTS):
                bf.add("y")
            proxy.spoil = None
            assert "x" in bf


@pytest.mark.parametrize("inner", ["exists", "add"])
@pytest.mark.parametrize("outer", ["exists", "add"])
def test_the_only_connection_has_one_talk_at_a_time(server, outer, inner):
    """A signal handler or a finalizer asks by another filter of the client while the answer to the
    first is on its way: it must not take that one for its own."""
    server("FLUSHALL")
    said = []

    class Connection(redis.Connection):
        armed = False

        def send_packed_command(self, command, check_health=True):
            super().send_packed_command(command, check_health)
            if Connection.armed:
                Connection.armed = False
                select.select([self._sock], [], [], 5)
                with pytest.raises(Error, match="waits for another reply"):
                    said.append(b.add("c") if inner == "add" else "here" in b)

    pool = redis.ConnectionPool(connection_class=Connection, port=server.port)
    client = redis.Redis(connection_pool=pool, single_connection_client=True)
    a, b = (BloomFilter(n=100, p=1e-9, storage=client, key="k") for _ in range(2))
    a.add("here")
    Connection.armed = True
    assert (a.add("new") if outer == "add" else "absent" not in a) is True
    assert not Connection.armed and said == []
    assert "here" in b and "c" not in b and b.add("c")


def odd_replies(connection, count, replies):
    replies.feed(b":7\r\n" * count)


@pytest.mark.parametrize("one", [True, False])
def test_a_refused_reply_closes_the_connection(client, server, monkeypatch, one):
    """Each reply is that of the command before, as after a call that ended before its reply."""
    client = plain(server.port, single_connection_client=one)
    with BloomFilter(n=100, p=1e-9, storage=client, key="seen") as bf:
        bf.add("x")
        with monkeypatch.context() as patch:
            patch.setattr(_redis.Loan, "receive", staticmethod(odd_replies))
            with pytest.raises(Error, match="out of step"):
                bf.add("x")
        pool = client.connection_pool
        used = [client.connection] if one else pool._available_connections
        assert used and not any(connection._sock for connection in used)
        assert "x" in bf and "never" not in bf
