"""Damaged, hostile and vanishing clients: the right 4xx or a closed connection, one reply, nothing
added, the daemon alive."""

import random
import re
import socket
import struct

import pytest
from daemons import FRAMED, framed

STATUS = re.compile(rb"HTTP/1\.1 (\d\d\d) ")


def statuses(data):
    return [int(status) for status in STATUS.findall(data)]


def untouched(daemon):
    """Still answers, and no key was added."""
    assert daemon.get("/healthz").body == b"ok"
    stats = daemon.stats()
    return stats["adds"] == 0 and stats["count"] == 0


@pytest.mark.parametrize(
    "key", [*"% %a %zz a% a%4 %4g %g4 %%41 %+1 %-1".split(), "% 1", "%\x80\x80", "abc%2", "%00%"]
)
def test_bad_percent_encoding(daemon, key):
    for path in (b"/add=", b"/contain=", b"/f/default/add="):
        raw = key.encode("latin-1")
        got = daemon.client().ask("GET", path + raw.replace(b" ", b"+"))
        assert (got.status, got.reason, got.body) == (400, "Error Command", b"Error Command")
    assert untouched(daemon)


# ---- limits ----
def flood(daemon, *pieces):
    """Sends for as long as the server takes it; what it answered."""
    client = daemon.client()
    try:
        for piece in pieces:
            client.send(piece)
        client.socket.shutdown(socket.SHUT_WR)
    except (BrokenPipeError, ConnectionResetError):
        pass
    return client.end()


def test_a_url_of_a_mebibyte(daemon):
    assert statuses(flood(daemon, b"GET /add=" + b"x" * (1 << 20) + b" HTTP/1.1\r\n\r\n")) == [414]
    assert untouched(daemon)


def test_a_header_of_50_mebibytes(daemon):
    for line in (
        b"A: " + b"x" * (50 << 20) + b"\r\n",
        b"A" * (50 << 20) + b": x\r\n",
        b"A: x\r\n" * (50 << 17),
        b"A: " + b" " * (50 << 20) + b"x\r\n",
    ):
        assert statuses(flood(daemon, b"GET /add=k HTTP/1.1\r\n" + line + b"\r\n")) == [431], line[
            :9
        ]
    assert untouched(daemon)


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


def test_limits_are_to_the_byte(start):
    daemon = start("-n", 1000, "-p", 0.01, "--max-url", 100, "--max-header", 200)
    assert daemon.get("/contain=" + "x" * 91).status == 200
    assert daemon.get("/contain=" + "x" * 92).status == 414
    client = daemon.client()
    head = b"GET /contain=k HTTP/1.1\r\n"
    assert (
        client.send(head + b"A: " + b"x" * 195 + b"\r\n\r\n").reply().status == 200
    )  # name, ": ", value, CRLF
    assert client.send(head + b"A: " + b"x" * 196 + b"\r\n\r\n").reply().status == 431


def test_defaults(daemon):
    assert daemon.get("/contain=" + "x" * (16384 - 9)).status == 200
    assert daemon.get("/contain=" + "x" * (16384 - 8)).status == 414
    assert daemon.get("/contain=x", A="x" * 16000).status == 200
    assert daemon.get("/contain=x", A="x" * 16384).status == 431


def test_all_bodies_together(start):
    daemon = start("-n", 1000, "-p", 0.01, "--max-buffered", "2M")
    slow = [
        daemon.client().send(
            b"POST /add HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 500_000
        )
        for _ in range(16)
    ]
    refused = daemon.post("/add", b"y" * 3_000_000)
    assert refused.status == 503
    for client in slow:
        client.close()
    client = daemon.client()
    while (
        client.ask("POST", "/add", b"y" * 300_000).status == 503
    ):  # until the others are forgotten
        client = daemon.client()
    assert daemon.get("/contain=" + "y" * 10).status == 200


def test_more_connections_than_allowed(start):
    daemon = start("-n", 1000, "-p", 0.01, "--max-connections", 5)
    clients = [daemon.client() for _ in range(5)]
    for client in clients:
        assert client.get("/healthz").status == 200
    assert statuses(daemon.client().end()) == [503]
    assert clients[0].get("/healthz").status == 200


def test_named_filters_have_limits(start):
    daemon = start("-n", 1000, "-p", 0.01, "--max-filters", 2, "--max-filter", "1M")
    assert daemon.ask("PUT", "/f/large?m=8388609&n=1000000").status == 507
    assert [daemon.ask("PUT", f"/f/{name}?n=10&p=0.1").status for name in "abc"] == [201, 201, 507]
    assert daemon.ask("PUT", "/f/a?n=10&p=0.1").status == 200


# ---- framing ----
@pytest.mark.parametrize("cut", [1, 3, 4, 5, 8, 9])
def test_truncated_framing_adds_nothing(daemon, cut):
    body = framed([b"abc", b"defg", b"hij" * 1000])
    for damaged in (
        body[:-cut],
        body + b"\0" * (cut if cut % 4 else cut + 1),
        struct.pack("<I", 0xFFFFFFFF) + body,
        body + struct.pack("<I", 1),
    ):
        got = daemon.post("/add", damaged, **FRAMED)
        assert (got.status, got.body) == (400, b"Error Command")
        assert "truncated" in got.headers["x-error"]
    assert untouched(daemon)


def test_a_refused_key_keeps_the_batch_out(start):
    """guava:chars hashes UTF-16: bytes that are no UTF-8 are no key for it."""
    daemon = start("-n", 100_000, "-p", 0.01, "--scheme", "guava:chars")
    client = daemon.client()
    good = [b"%d" % i for i in range(5000)]
    got = client.ask("POST", "/add", framed([*good, b"\xff\xfe"]), **FRAMED)
    assert (got.status, got.body) == (400, b"Error Command")
    assert client.ask("POST", "/contain", framed(good), **FRAMED).body == b"0" * 5000
    assert untouched(daemon)
    assert client.ask("POST", "/add", framed(good), **FRAMED).status == 200


@pytest.mark.parametrize(
    "request_",
    [
        b"POST /add HTTP/1.1\r\nContent-Length: x\r\n\r\nab",
        b"POST /add HTTP/1.1\r\nContent-Length: -1\r\n\r\nab",
        b"POST /add HTTP/1.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc",
        b"POST /add HTTP/1.1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
        b"POST /add HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nab\r\n0\r\n\r\n",
        b"POST /add HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nab",
        b"POST /add HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\nab",
        b"GET /add=k HTTP/9.9\r\n\r\n",
        b"GET /add=k HTTP/2.0\r\n\r\n",
        b"GET /add=k\r\n\r\n",
        b"GET\r\n\r\n",
        b"get /add=k HTTP/1.1\r\n\r\n",
        b"FOO /add=k HTTP/1.1\r\n\r\n",
        b"GET /add=k HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET /add=k HTTP/1.1\r\n: x\r\n\r\n",
        b"GET /add=k HTTP/1.1\r\nA\0: x\r\n\r\n",
        b"GET /add=k\0 HTTP/1.1\r\n\r\n",
        b"GET /add=k HTTP/1.1 x\r\n\r\n",
        b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03" + b"x" * 200,
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\0" * 100,
        b"\xff" * 100,
        b"{}\n",
    ],
)
def test_garbage(daemon, request_):
    assert statuses(flood(daemon, request_)) == [400]
    assert untouched(daemon)


def test_garbage_behind_a_request(daemon):
    data = flood(
        daemon, b"GET /contain=a HTTP/1.1\r\n\r\nGARBAGE\r\n\r\nGET /add=b HTTP/1.1\r\n\r\n"
    )
    assert statuses(data) == [200, 400]
    assert data.count(b"Error Command") == 2  # the reason and the body
    assert untouched(daemon)


def test_nothing_is_read_behind_the_last_request(daemon):
    assert statuses(
        flood(
            daemon,
            b"GET /contain=a HTTP/1.1\r\nConnection: close\r\n\r\nGET /add=b HTTP/1.1\r\n\r\n",
        )
    ) == [200]
    assert untouched(daemon)


def test_upgrades_are_not_taken(daemon):
    data = flood(
        daemon,
        b"GET /contain=a HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\nGET /contain=b HTTP/1.1\r\n\r\n",
    )
    assert statuses(data) == [200, 200]


def test_random_damage(daemon):
    """Bytes of valid requests flipped, cut and repeated: an end, never a wrong one, and no key but
    those that were spelled."""
    rng = random.Random(7)
    valid = [
        b"GET /contain=k HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"POST /contain HTTP/1.1\r\nContent-Length: 3\r\n\r\na\nb",
        b"PUT /f/x?n=10&p=0.1 HTTP/1.1\r\n\r\n",
        b"POST /contain HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\na\nb\r\n0\r\n\r\n",
        b"GET /stats HTTP/1.1\r\nAuthorization: Bearer x\r\n\r\n",
    ]
    for _ in range(600):
        data = bytearray(b"".join(rng.choices(valid, k=rng.randrange(1, 4))))
        for _ in range(rng.randrange(1, 6)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        data = data[: rng.randrange(1, len(data) + 1)]
        for status in statuses(flood(daemon, bytes(data))):
            assert status in (200, 201, 400, 403, 404, 409, 413)
    assert daemon.get("/healthz").body == b"ok"


def test_packed_bodies_are_not_taken_for_keys(daemon):
    import gzip

    packed = gzip.compress(b"a\nb")
    assert daemon.post("/add", packed, Content_Encoding="gzip").status == 415
    assert statuses(
        flood(
            daemon,
            b"POST /add HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
        )
    ) == [400]
    assert untouched(daemon)
    assert daemon.post("/add", b"a", Content_Encoding="identity").body == b"1"


@pytest.mark.parametrize(
    "kind",
    """application/json application/json;charset=utf-8 Application/JSON application/x-ndjson
    application/problem+json multipart/form-data;boundary=x MULTIPART/mixed""".split(),
)
def test_markup_is_not_taken_for_keys(daemon, kind):
    for method, path in (("POST", "/add"), ("POST", "/contain"), ("POST", "/f/x"), ("PUT", "/f/x")):
        got = daemon.ask(method, path, b'["a","b"]', Content_Type=kind)
        assert got.status == 415 and "one key per text line" in got.headers["x-error"]
    assert untouched(daemon)
    assert daemon.ask("PUT", "/f/x?n=10&p=0.1", Content_Type=kind).status == 201  # no body


@pytest.mark.parametrize(
    "kind",
    """text/plain application/x-www-form-urlencoded application/octet-stream
    text/plain;name=keys.json application/js text/multipart/""".split(),
)
def test_other_types_are_lines(daemon, kind):
    assert daemon.post("/add", b"a\nb", Content_Type=kind).body == b"11"


def test_downloads_count_as_buffered(start):
    """Clients that do not read what they asked for cannot make the daemon hold more than it may."""
    daemon = start("-n", 1000, "-p", 0.01, "--max-buffered", "30M")
    daemon.ask("PUT", "/f/large?m=80000000&n=1000000")
    slow = []
    for _ in range(3):
        slow.append(daemon.client())
        slow[-1].socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow[-1].send(b"GET /f/large HTTP/1.1\r\n\r\n")
        slow[-1].socket.recv(1, socket.MSG_PEEK)
    assert daemon.get("/f/large").status in (
        200,
        507,
    )  # 200 where they stood still for so long that one gave way
    assert (
        int(re.search(rb"bloomfilter_buffered_bytes (\d+)", daemon.get("/metrics").body)[1])
        <= 30 << 20
    )
    for client in slow:
        client.close()
    while daemon.get("/f/large").status != 200:
        pass


# ---- who does not stay ----
def test_half_sent_requests(daemon):
    whole = b"POST /add HTTP/1.1\r\nContent-Length: 5\r\n\r\nabcde"
    for cut in range(1, len(whole)):
        assert statuses(flood(daemon, whole[:cut])) == []
    assert untouched(daemon)


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
        ):
            for _ in range(5):
                how(daemon.client().send(request))
    assert untouched(daemon)
    while (
        daemon.stats()["connections"] > 1
        or b"bloomfilter_buffered_bytes 0\n" not in daemon.get("/metrics").body
    ):
        pass  # all of them are forgotten, with what was held for them
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
    assert untouched(daemon)


def test_the_deadline_is_of_each_request(start):
    """Six seconds of pipelined requests, each in two pieces: none is late."""
    daemon = start("-n", 1000, "-p", 0.01, "--deadline", 4)
    client = daemon.client()
    import time

    end = time.monotonic() + 6
    client.send(b"GET /contain=a HT")
    while time.monotonic() < end:
        client.send(b"TP/1.1\r\n\r\nGET /contain=a HT")
        assert client.reply().body == b"false"
        time.sleep(0.01)


def test_idle_connections_end(start):
    daemon = start("-n", 1000, "-p", 0.01, "--idle", 3)
    silent, kept = daemon.client(), daemon.client()
    assert kept.get("/contain=a").status == 200
    assert silent.end() == kept.end() == b""


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
