"""Damaged, hostile and vanishing clients: the right 4xx or a closed connection, one reply, nothing
added, the daemon alive.  Requests that are refused by themselves: tests/catalogue."""

import contextlib
import gzip
import socket
import struct
import time

import pytest
from daemons import FRAMED, flood, framed, statuses, until


# ---- limits ----
def test_heads_without_end(served):
    most = 4 << 20
    for status, head in (
        (414, b"GET /add=" + b"x" * most + b" HTTP/1.1\r\n"),
        (431, b"GET /add=k HTTP/1.1\r\nA: " + b"x" * most + b"\r\n"),
        (431, b"GET /add=k HTTP/1.1\r\n" + b"A" * most + b": x\r\n"),
        (431, b"GET /add=k HTTP/1.1\r\n" + b"A: x\r\n" * (most // 6)),
        (431, b"GET /add=k HTTP/1.1\r\nA: " + b" " * most + b"x\r\n"),
    ):
        assert statuses(flood(served, head + b"\r\n")) == [status], head[:30]


def test_a_body_past_the_limit(start):
    daemon = start("-n", 1000, "-p", 0.01, "--max-body", "1M")
    client = daemon.client()
    assert client.ask("POST", "/add", b"x" * (1 << 20)).body == b"1"
    before = daemon.stats()["adds"]
    for body in (b"x" * ((1 << 20) + 1), b"\n" * (5 << 20)):
        assert statuses(
            flood(daemon, b"POST /add HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(body), body)
        ) == [413]
        chunks = b"".join(
            b"10000\r\n" + body[at : at + 0x10000].ljust(0x10000) + b"\r\n"
            for at in range(0, len(body), 0x10000)
        )
        assert statuses(
            flood(daemon, b"POST /add HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", chunks)
        ) == [413]
    assert statuses(
        flood(daemon, b"POST /add HTTP/1.1\r\nContent-Length: 99999999999999\r\n\r\n")
    ) == [413]
    assert daemon.stats()["adds"] == before


@pytest.mark.parametrize(
    ("args", "url", "header"),
    [([], 16384, 16384), (["--max-url", 100, "--max-header", 200], 100, 200)],
)
def test_limits_are_to_the_byte(start, args, url, header):
    daemon = start("-n", 1000, "-p", 0.01, *args)
    assert daemon.get("/contain=" + "x" * (url - 9)).status == 200
    assert daemon.get("/contain=" + "x" * (url - 8)).status == 414
    client, head = daemon.client(), b"GET /contain=k HTTP/1.1\r\nA: "
    for value, status in ((header - 5, 200), (header - 4, 431)):  # name, ": ", value, CRLF
        assert client.send(head + b"x" * value + b"\r\n\r\n").reply().status == status


def test_more_connections_than_allowed(start):
    daemon = start("-n", 1000, "-p", 0.01, "--max-connections", 5)
    clients = [daemon.client() for _ in range(5)]
    for client in clients:
        assert client.get("/healthz").status == 200
    refused = daemon.client().end()
    assert statuses(refused) == [503] and b"\r\nX-Error: " in refused
    assert clients[0].get("/healthz").status == 200


def test_named_filters_have_limits(start):
    daemon = start("-n", 1000, "-p", 0.01, "--max-filters", 2, "--max-filter", "1M")
    assert daemon.ask("PUT", "/f/large?m=8388609&n=1000000").status == 507
    assert [daemon.ask("PUT", f"/f/{name}?n=10&p=0.1").status for name in "abc"] == [201, 201, 507]
    assert daemon.ask("PUT", "/f/a?n=10&p=0.1").status == 200


# ---- framing ----
def test_a_refused_key_keeps_the_batch_out(start):
    """guava:chars hashes UTF-16: bytes that are no UTF-8 are no key for it."""
    daemon = start("-n", 100_000, "-p", 0.01, "--scheme", "guava:chars")
    client = daemon.client()
    good = [b"%d" % i for i in range(5000)]
    got = client.ask("POST", "/add", framed([*good, b"\xff\xfe"]), **FRAMED)
    assert (got.status, got.body) == (400, b"Error Command")
    assert client.ask("POST", "/contain", framed(good), **FRAMED).body == b"0" * 5000
    assert daemon.untouched()
    assert client.ask("POST", "/add", framed(good), **FRAMED).status == 200


@pytest.mark.parametrize(
    ("first", "second", "right"),
    [
        (b"", b"GARBAGE\r\n\r\nGET /add=b HTTP/1.1\r\n", [200, 400]),
        (b"Connection: close\r\n", b"GET /add=b HTTP/1.1\r\n", [200]),
        (b"Connection: Upgrade\r\nUpgrade: h2c\r\n", b"GET / HTTP/1.1\r\n", [200, 200]),
    ],
)
def test_behind_a_request(served, first, second, right):
    data = b"GET /contain=a HTTP/1.1\r\n" + first + b"\r\n" + second + b"\r\n"
    assert statuses(flood(served, data)) == right


PACKED = b"POST /add HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"


def test_packed_bodies_are_not_taken_for_keys(served):
    assert served.post("/add", gzip.compress(b"a\nb"), Content_Encoding="gzip").status == 415
    assert statuses(flood(served, PACKED)) == [400]
    assert served.post("/contain", b"a", Content_Encoding="identity").body == b"0"


def test_markup_is_not_taken_for_keys(daemon):
    for kind in """application/json application/json;charset=utf-8 Application/JSON
        application/x-ndjson application/problem+json multipart/form-data;boundary=x
        MULTIPART/mixed""".split():
        for ask in (("POST", "/add"), ("POST", "/contain"), ("POST", "/f/x"), ("PUT", "/f/x")):
            got = daemon.ask(*ask, b'["a","b"]', Content_Type=kind)
            assert got.status == 415 and "one key per text line" in got.headers["x-error"]
    assert daemon.untouched()
    assert daemon.ask("PUT", "/f/x?n=10&p=0.1", Content_Type=kind).status == 201  # no body


def test_other_types_are_lines(served):
    for kind in """text/plain application/x-www-form-urlencoded application/octet-stream
        text/plain;name=keys.json application/js text/multipart/""".split():
        assert served.post("/contain", b"a\nb", Content_Type=kind).body == b"00", kind


# ---- who does not stay ----
def test_half_sent_requests(served):
    whole = b"POST /add HTTP/1.1\r\nContent-Length: 5\r\n\r\nabcde"
    for cut in range(1, len(whole)):
        assert statuses(flood(served, whole[:cut])) == []


def reset(client):
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()


def test_clients_that_vanish(daemon):
    """In the middle of large replies and behind pipelined requests, by FIN and by RST."""
    daemon.ask("PUT", "/f/large?m=80000000&n=1000000")
    for how in (reset, lambda client: client.close()):
        for request in (
            b"GET /f/large HTTP/1.1\r\n\r\n",
            b"GET /contain=a HTTP/1.1\r\n\r\n" * 2000,
            b"POST /contain HTTP/1.1\r\nContent-Length: 900000\r\n\r\n" + b"\n" * 800_000,
            b"PUT /f/x?n=100000&p=0.01 HTTP/1.1\r\n\r\nGET /metrics HTTP/1.1\r\n\r\n",
        ):
            for _ in range(5):
                how(daemon.client().send(request))
    assert daemon.untouched()  # and all of them are forgotten, with what was held for them
    until(lambda: daemon.stats()["connections"] == 1 and daemon.metric("buffered_bytes") == 0)
    assert daemon.get("/f/large").status == 200


def test_a_slow_reader_gets_all_of_it(daemon):
    """More than the socket takes at once, read late; the next request waits behind it."""
    daemon.ask("PUT", "/f/large?m=80000000&n=1000000")
    client = daemon.client()
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 17)
    client.send(
        b"GET /f/large HTTP/1.1\r\n\r\nGET /contain=a HTTP/1.1\r\n\r\nPOST /contain HTTP/1.1\r\nContent-Length: 3\r\n\r\na\n"
    )
    other = daemon.client()
    for _ in range(100):
        assert other.get("/contain=a").body == b"false"
    large = client.reply()
    assert len(large.body) == 10_000_000 + 4096
    assert client.reply().body == b"false"
    assert client.send(b"b").reply().body == b"00"


# ---- slow ones ----
def test_a_request_has_a_deadline(start):
    """Bytes that keep coming do not prolong it."""
    daemon = start("-n", 1000, "-p", 0.01, "--deadline", 1)
    for beginning in (
        b"GET /add=k HTTP/1.1\r\n",
        b"POST /add HTTP/1.1\r\nContent-Length: 100000\r\n\r\n",
    ):
        client = daemon.client().send(beginning)
        client.socket.settimeout(0.05)
        data = b""
        while not data:
            try:
                client.send(b"A")
                data = client.socket.recv(1 << 16)
            except TimeoutError:
                pass
            except (BrokenPipeError, ConnectionResetError):
                break
        client.socket.settimeout(60)
        assert statuses(data + client.end()) in ([408], [])  # a reset may overtake the reply
    assert daemon.untouched()


def test_the_deadline_is_of_each_request(start):
    """Pipelined requests, each in two pieces, for longer than the deadline.  Only one that took as
    long itself may be late: the machine stood still."""
    daemon = start("-n", 1000, "-p", 0.01, "--deadline", 1)

    def all_in_time():
        client, begun = daemon.client(), time.monotonic()
        client.send(b"GET /contain=a HT")
        sent = begun
        while (now := time.monotonic()) < begun + 1.5:
            try:
                reply = client.send(b"TP/1.1\r\n\r\nGET /contain=a HT").reply()
            except (EOFError, ConnectionError):  # a reset may overtake the 408
                reply = None
            if not reply or reply.status == 408:
                assert time.monotonic() - sent > 0.9, reply
                return False
            assert reply.body == b"false"
            sent = now
        return True

    until(all_in_time)


def test_idle_connections_end(start):
    daemon = start("-n", 1000, "-p", 0.01, "--idle", 1)

    def answered():  # None where the machine stood still before its request
        client = daemon.client()
        with contextlib.suppress(EOFError, ConnectionError):
            assert client.get("/contain=a").status == 200
            return client

    silent = daemon.client()
    assert silent.end() == until(answered).end() == b""


def test_who_does_not_read_is_dropped(start):
    daemon = start("-n", 1000, "-p", 0.01, "--deadline", 1)
    daemon.ask("PUT", "/f/large?m=80000000&n=1000000")
    client = daemon.client()
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    for _ in range(100):
        try:
            client.send(b"GET /contain=a HTTP/1.1\r\n\r\n" * 10_000)
        except (BrokenPipeError, ConnectionResetError):
            break
    else:
        raise AssertionError("a client that never reads was served for ever")
