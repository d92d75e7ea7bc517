"""Filters on client objects of redis-py: the same bits through every kind of client, every fault an
exception with its cause. Clusters: test_redis_client_cluster.py.  The servers are real and the
test's own."""

import functools
import os
import pickle
import signal
import ssl
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from bloomfilter import BloomFilter, Error, _redis
from redis_clients import (
    FAULTS,
    NoBackoff,
    Retry,
    calls,
    check_against_memory,
    odd_replies,
    plain,
    redis,
)
from redis_tls import tls_server
from servers import Proxy, Server, free_port, sentinel


@pytest.fixture(scope="module")
def server(redis_server):
    return redis_server


@pytest.fixture
def client(server):
    server("FLUSHALL")
    return plain(server.port)


@pytest.fixture
def proxy(server):
    server("FLUSHALL")
    proxy = Proxy(server.port)
    yield proxy
    proxy.stop()


# ---- the same bits ----
CLIENTS = {
    "RESP2": lambda server: plain(server.port, protocol=2),
    "RESP3": lambda server: plain(server.port, protocol=3),
    "decoded": lambda server: plain(server.port, decode_responses=True),
    "decoded RESP2": lambda server: plain(server.port, protocol=2, decode_responses=True),
    "one connection": lambda server: plain(server.port, single_connection_client=True),
    "another database": lambda server: plain(server.port, db=3),
    "a socket": lambda server: redis.Redis(unix_socket_path=str(server.folder / "socket")),
    "a pool": lambda server: redis.Redis(
        connection_pool=redis.BlockingConnectionPool(port=server.port, max_connections=1)
    ),
    "a URL": lambda server: redis.from_url(f"redis://127.0.0.1:{server.port}/2"),
}


@pytest.mark.parametrize("kind", CLIENTS)
def test_any_client(client, server, kind):
    check_against_memory(CLIENTS[kind](server), "block")


def test_tls(tmp_path):
    with tls_server(tmp_path, "--tls-auth-clients", "no") as port:
        secure = {"host": "127.0.0.1", "port": port, "ssl": True}
        check_against_memory(redis.Redis(**secure, ssl_ca_certs=tmp_path / "ca.pem"), "block")
        others = ssl.get_default_verify_paths().cafile
        stranger = redis.Redis(**secure, ssl_ca_certs=others, retry=Retry(NoBackoff(), 0))
        with pytest.raises(FAULTS, match="127.0.0.1"):
            BloomFilter(n=10, p=0.1, storage=stranger, key="seen")


def test_sentinel(client, server, tmp_path):
    from redis.sentinel import Sentinel

    with sentinel(tmp_path, server.port) as port:
        check_against_memory(Sentinel([("127.0.0.1", port)]).master_for("mine"), "block")


def test_replies_that_redis_py_has_parsed(client, server, monkeypatch):
    """A client with a cache of its own gives no bytes; such clients need Redis 7.4, so any client is
    read in the same way here."""
    monkeypatch.setattr(_redis.Loan, "receive", staticmethod(_redis.read_parsed))
    for protocol in (2, 3):
        check_against_memory(plain(server.port, protocol=protocol), "block")
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


@pytest.mark.parametrize("options", [{}, {"single_connection_client": True}], ids=str)
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
    fakeredis = pytest.importorskip("fakeredis")
    fakes = [fakeredis.FakeRedis(), fakeredis.FakeStrictRedis()]
    for wrong in (
        *fakes,
        client.pipeline(),
        client.pubsub(),
        redis.asyncio.Redis(),
        redis.asyncio.RedisCluster,
    ):
        match = "in unit tests use a filter in memory" if wrong in fakes else "storage must be"
        with pytest.raises(TypeError, match=match):
            BloomFilter(n=100, p=0.01, storage=wrong, key="seen")
        with pytest.raises(TypeError, match=match):
            BloomFilter.open(wrong, key="seen")


# ---- threads, processes, signals ----


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


@pytest.fixture
def stopped(server):
    """goes_on() lets the server answer, which does not until then."""
    server.process.send_signal(signal.SIGSTOP)
    goes_on = functools.partial(server.process.send_signal, signal.SIGCONT)
    yield goes_on
    goes_on()


@pytest.fixture
def signal_in_a_wait(monkeypatch):
    """Sends this process a signal when the next call waits for a reply: before it waits, a signal
    would not end the wait.  Where a kernel does not say where a thread waits it has 200 naps."""

    def send(number):
        begun, receive = threading.Event(), _redis.Loan.receive
        waits = staticmethod(lambda *given: (begun.set(), receive(*given)))
        monkeypatch.setattr(_redis.Loan, "receive", waits)
        waiting = threading.main_thread()  # any other thread would not end its wait
        where = Path(f"/proc/self/task/{waiting.native_id}/wchan")

        def kill():
            begun.wait()
            for _ in range(200):
                if "poll" in where.read_text():
                    break
                time.sleep(0.01)
            signal.pthread_kill(waiting.ident, number)

        threading.Thread(target=kill).start()

    return send


@pytest.fixture
def filled(client):
    with BloomFilter(n=100, p=0.01, storage=client, key="slow") as bf:
        bf.add("x")
        yield bf


def test_ctrl_c_ends_the_wait(filled, stopped, signal_in_a_wait):
    signal_in_a_wait(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        assert "x" in filled
    stopped()
    assert "x" in filled


def test_a_signal_handler_cannot_use_the_filter_meanwhile(filled, stopped, signal_in_a_wait):
    seen = []

    def handler(*_):
        with pytest.raises(Error, match="its clock, hash function or client") as refused:
            assert "x" in filled
        seen.append(refused)
        stopped()

    before = signal.signal(signal.SIGUSR1, handler)
    try:
        signal_in_a_wait(signal.SIGUSR1)
        assert "x" in filled and seen
    finally:
        signal.signal(signal.SIGUSR1, before)


# ---- faults ----
def raises_everywhere(bf, *, match=None, cause=None):
    for call in calls(bf)[:5]:
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


def test_a_password_that_is_not_right_any_more(server):
    server("ACL SETUSER some on >s3same ~* +@all")
    client = plain(server.port, username="some", password="s3same")
    with BloomFilter(n=100, p=0.01, storage=client, key="seen") as bf:
        bf.add("x")
        server("ACL SETUSER some resetpass >changed")
        client.connection_pool.disconnect()
        raises_everywhere(bf, match="Redis key seen")
        server("ACL DELUSER some")


def test_a_reply_that_comes_byte_by_byte_has_the_time_of_one():
    pieces = iter([b"$"] * 100)
    sock = SimpleNamespace(recv=lambda _: time.sleep(0.01) or next(pieces))
    connection = SimpleNamespace(_sock=sock, socket_timeout=0.05)
    with pytest.raises(TimeoutError, match="takes too long"):
        _redis.Loan.receive(connection, 1, SimpleNamespace(feed=lambda _: 0))


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
