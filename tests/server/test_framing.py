"""Where a request ends: whatever a proxy in front could see otherwise is one 400 and the end of the
connection, and adds nothing."""

import itertools

import pytest
from daemons import TAKES_RAW, flood, statuses, until

HEAD = b"POST /add HTTP/1.1\r\nHost: localhost\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
NEXT = b"GET /add=SMUGGLED HTTP/1.1\r\nHost: localhost\r\n\r\n"

CHUNKS = {
    "other bytes for CRLF": b"1\r\nxZZ0\r\n\r\n",
    "LF LF for CRLF": b"1\r\nx\n\n0\r\n\r\n",
    "CR CR for CRLF": b"1\r\nx\r\r0\r\n\r\n",
    "LF for CRLF": b"1\r\nx\n0\r\n\r\n",
    "nothing for CRLF": b"1\r\nx0\r\n\r\n",
    "LF behind the size": b"1\nx\r\n0\r\n\r\n",
    "CR and another byte behind the size": b"1\rZx\r\n0\r\n\r\n",
    "LF behind the last size": b"1\r\nx\r\n0\n\r\n",
    "LF at the end": b"1\r\nx\r\n0\r\n\n",
    "CR and another byte at the end": b"1\r\nx\r\n0\r\n\rZ",
    "no size": b"\r\nx\r\n0\r\n\r\n",
    "an extension without a size": b";a=b\r\nx\r\n0\r\n\r\n",
    "a sign": b"+1\r\nx\r\n0\r\n\r\n",
    "0x": b"0x1\r\nx\r\n0\r\n\r\n",
    "a space in front of the size": b" 1\r\nx\r\n0\r\n\r\n",
    "a space behind the size": b"1 \r\nx\r\n0\r\n\r\n",
    "an underscore": b"1_0\r\nx\r\n0\r\n\r\n",
    "a size of 17 digits": b"00000000000000001\r\nx\r\n0\r\n\r\n",
    "a size past 64 bits": b"ffffffffffffffffff\r\nx\r\n0\r\n\r\n",
    "LF in an extension": b"1;a\nb\r\nx\r\n0\r\n\r\n",
    "CR in an extension": b"1;a\rb\r\nx\r\n0\r\n\r\n",
    "NUL in an extension": b"1;a\0\r\nx\r\n0\r\n\r\n",
    "an extension without end": b"1;a=" + b"x" * 100_000 + b"\r\nx\r\n0\r\n\r\n",
    "a folded trailer": b"1\r\nx\r\n0\r\nA: b\r\n c\r\n\r\n",
    "a trailer that is none": b"1\r\nx\r\n0\r\nno colon\r\n\r\n",
    "a trailer with a bare LF": b"1\r\nx\r\n0\r\nA: b\n\r\n",
}
HEADS = {
    "RTSP": b"GET /add=x RTSP/1.0\r\nHost: localhost\r\n\r\n",
    "ICE": b"GET /add=x ICE/1.0\r\nHost: localhost\r\n\r\n",
    "a version in small letters": b"GET /add=x http/1.1\r\nHost: localhost\r\n\r\n",
    "LF for CRLF": b"GET /add=x HTTP/1.1\nHost: localhost\n\n",
    "LF behind the first line": b"GET /add=x HTTP/1.1\nHost: localhost\r\n\r\n",
    "LF behind a header": b"GET /add=x HTTP/1.1\r\nHost: localhost\n\r\n",
    "LF at the end": b"GET /add=x HTTP/1.1\r\nHost: localhost\r\n\n",
    "CR for CRLF": b"GET /add=x HTTP/1.1\rHost: localhost\r\r",
    "CR and another byte at the end": b"GET /add=x HTTP/1.1\r\nHost: localhost\r\n\rX",
    "CR in a value": b"GET /add=x HTTP/1.1\r\nHost: localhost\r\nA: b\rc\r\n\r\n",
    "CR for an empty value": b"GET /add=x HTTP/1.1\r\nA:\rB: c\r\n\r\n",
    "NUL in a value": b"GET /add=x HTTP/1.1\r\nA: b\0c\r\n\r\n",
    "a folded value": b"GET /add=x HTTP/1.1\r\nA: b\r\n c\r\n\r\n",
    "a value folded by a tab": b"GET /add=x HTTP/1.1\r\nA: b\r\n\tc\r\n\r\n",
    "a folded empty value": b"GET /add=x HTTP/1.1\r\nA:\r\n b\r\n\r\n",
    "a first line that is folded": b"GET /add=x HTTP/1.1\r\n A: b\r\n\r\n",
    "a folded Transfer-Encoding": HEAD + b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
    "a folded Content-Length": HEAD + b"Content-Length: 1\r\n 0\r\n\r\nx",
    "a space before the colon": b"GET /add=x HTTP/1.1\r\nA : b\r\n\r\n",
    "a space before the colon of Transfer-Encoding": HEAD
    + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "a space before the colon of Content-Length": HEAD + b"Content-Length : 1\r\n\r\nx",
    "a tab before the colon": b"GET /add=x HTTP/1.1\r\nA\t: b\r\n\r\n",
    "a space in a name": b"GET /add=x HTTP/1.1\r\nA B: b\r\n\r\n",
    "two spaces": b"GET  /add=x HTTP/1.1\r\n\r\n",
    "two spaces behind the target": b"GET /add=x  HTTP/1.1\r\n\r\n",
    "a tab in the target": b"GET /add=x\ty HTTP/1.1\r\n\r\n",
    "a space behind the version": b"GET /add=x HTTP/1.1 \r\n\r\n",
    "HTTP/0.9": b"GET /add=x\r\n",
    "HTTP/0.9 by its number": b"GET /add=x HTTP/0.9\r\n\r\n",
    "HTTP/1.2": b"GET /add=x HTTP/1.2\r\n\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "both lengths": HEAD + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "both lengths, the other way": HEAD
    + b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    "two lengths that agree": HEAD + b"Content-Length: 1\r\nContent-Length: 1\r\n\r\nx",
    "two lengths in one": HEAD + b"Content-Length: 1, 1\r\n\r\nx",
    "a length with a sign": HEAD + b"Content-Length: +1\r\n\r\nx",
    "an empty length": HEAD + b"Content-Length:\r\n\r\nx",
    "chunked, gzip": HEAD + b"Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
    "gzip, chunked": HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "identity": HEAD + b"Transfer-Encoding: identity\r\n\r\n0\r\n\r\n",
    "chunked twice": HEAD
    + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunked and nothing": HEAD
    + b"Transfer-Encoding: chunked\r\nTransfer-Encoding:\r\n\r\n0\r\n\r\n",
    "nothing as an encoding": HEAD + b"Transfer-Encoding:\r\n\r\n0\r\n\r\n",
    "x as an encoding": HEAD + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "chunked in HTTP/1.0": b"POST /add HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "CONNECT with a body": b"CONNECT localhost:80 HTTP/1.1\r\nContent-Length: 1\r\n\r\nx",
    "two Hosts": b"GET /add=x HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
    "two types": HEAD
    + b"Content-Type: text/plain\r\nContent-Type: application/x-bloomfilter-keys\r\nContent-Length: 1\r\n\r\nx",
    "LF in front": b"\nGET /add=x HTTP/1.1\r\n\r\n",
    "CR in front": b"\rGET /add=x HTTP/1.1\r\n\r\n",
    "CRs in front": b"\r\r\n\nGET /add=x HTTP/1.1\r\n\r\n",
    "many empty lines in front": b"\r\n" * 5 + b"GET /add=x HTTP/1.1\r\n\r\n",
    "a space in front": b" GET /add=x HTTP/1.1\r\n\r\n",
    "an authority alone": b"GET http://localhost HTTP/1.1\r\n\r\n",
    "an authority with a user": b"GET http://a@localhost/add=x HTTP/1.1\r\n\r\n",
    "no authority": b"GET http:///add=x HTTP/1.1\r\n\r\n",
    "a query for an authority": b"GET http://localhost?/add=x HTTP/1.1\r\n\r\n",
}


def pieces(data):
    """Whole, byte by byte, and cut at every tenth byte: reads end anywhere."""
    yield [data]
    if len(data) < 1000:
        yield [data[i : i + 1] for i in range(len(data))]
        yield [data[i : i + 10] for i in range(0, len(data), 10)]


def clients_sending(daemon, data):
    """A client for each way to cut these bytes."""
    for parts in pieces(data):
        client = daemon.client()
        for part in parts:
            client.send(part)
        yield client


@pytest.mark.parametrize("name", CHUNKS)
def test_chunks_that_end_otherwise(served, name):
    for parts in pieces(CHUNKED + CHUNKS[name] + NEXT):
        assert statuses(flood(served, *parts)) == [400]


@pytest.mark.parametrize("name", HEADS)
def test_heads_that_end_otherwise(served, name):
    # What keeps the connection is a request that is understood to the byte, and only asks for what
    # is not there.
    understood = "authority" in name
    for parts in pieces(HEADS[name] + (b"" if understood else NEXT)):
        got = flood(served, *parts)
        assert statuses(got) == [400]
        assert understood or b"\r\nX-Error: " in got
        assert "both lengths" not in name or b"Content-Length" in got


def test_a_chunk_past_the_limit_is_refused_by_its_size(served):
    for size in (b"4000001", b"fffffffffffffff", b"ffffffffffffffff"):
        assert statuses(flood(served, CHUNKED + size + b"\r\nx")) == [413]


def test_trailers_without_end(served):
    for trailer in (b"A: b\r\n" * 10_000, b"A: " + b" " * 100_000, b"A" * 100_000 + b": b"):
        got = flood(served, CHUNKED + b"1\r\nx\r\n0\r\n" + trailer + b"\r\n\r\n")
        assert statuses(got) == [431], trailer[:9]


@pytest.mark.parametrize(
    "ending",
    [
        b"1\r\nx\r\n0\r\n\r\n",
        b"01\r\nx\r\n000\r\n\r\n",
        b"1;a\r\nx\r\n0;b=c\r\n\r\n",
        b'1;a="b c"\r\nx\r\n0\r\nA: b\r\n\r\n',
        b"1\r\nx\r\n0\r\nA:\r\nB: c\r\n\r\n",
    ],
)
def test_chunks_as_they_may_be(daemon, ending):
    for client in clients_sending(daemon, CHUNKED + ending + NEXT.replace(b"/add", b"/contain")):
        assert (client.reply().status, client.reply().body) == (200, b"false")


def test_empty_lines_between_requests(served):
    """Some clients send one behind a body."""
    request = b"POST /contain HTTP/1.1\r\nContent-Length: 1\r\n\r\nx"
    for client in clients_sending(served, b"\r\n" + request + b"\r\n" * 4 + request + request):
        assert [client.reply().body for _ in range(3)] == [b"0"] * 3


@pytest.mark.parametrize(
    "trailer",
    [
        b"Content-Type: application/x-bloomfilter-keys",
        b"Content-Length: 100",
        b"Host: evil.example",
        b"Content-Encoding: gzip",
        b"Expect: 100-continue",
        b"Authorization: Bearer x",
        b"Origin: http://evil.example",
        b"Sec-Fetch-Site: cross-site",
    ],
)
def test_trailers_mean_nothing(daemon, trailer):
    body = CHUNKED + b"2\r\nxy\r\n0\r\n" + trailer + b"\r\n\r\n"
    for client in clients_sending(daemon, body + b"GET /contain=xy HTTP/1.1\r\n\r\n"):
        got = client.reply()
        if got.status == 400 and not TAKES_RAW and trailer.startswith(b"Content-Length"):
            continue  # llhttp from 9 on refuses this one
        assert (got.status, len(got.body)) == (200, 1)
        assert client.reply().body == b"true"


def test_two_authorizations_are_none(start):
    daemon = start("-n", 1000, "-p", 0.01, "--token", "Bearer T")
    values = (b"Bearer T", b"Bearer ", b"Bearer Bearer T", b"", b"x")
    head = b"GET /add=x HTTP/1.1\r\nAuthorization: %s\r\nX: y\r\nauthorization: %s\r\n\r\n"
    for first, second in itertools.product(values, repeat=2):
        assert statuses(flood(daemon, head % (first, second) + NEXT)) == [400], (first, second)
    assert daemon.get("/contain=x", Authorization="Bearer Bearer T").body == b"false"


def test_a_token_ends_where_its_value_does(start):
    """Blanks behind it do not belong to it; in a trailer there is none."""
    daemon = start("-n", 1000, "-p", 0.01, "--token", "T")
    chunk = b"1\r\nx\r\n0\r\n"
    got = flood(daemon, CHUNKED + chunk + b"Authorization: Bearer T\r\n\r\n")
    assert statuses(got) == [401]
    assert daemon.get("/add=x", Authorization="Bearer T \t").body == b"ok"
    blanks = b"Authorization: Bearer T\r\nTransfer-Encoding: chunked \t\r\n\r\n"
    got = daemon.client().send(HEAD + blanks + chunk + b"\r\n").reply()
    assert got.status in (200, 400)  # llhttp's versions differ; never a body of another length


def test_no_continue_for_http_1_0(daemon):
    client = daemon.client().send(
        b"POST /add HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx"
    )
    assert (client.reply().status, client.end()) == (200, b"")


@pytest.mark.parametrize("tail", ["1000&p=0.01", "10&p=0.0", "1e3&p=1e-2", "10&m=1e4"])
def test_a_number_that_ends_with_its_buffer(daemon, tail):
    """Text of a request has no NUL at its end: seen by AddressSanitizer."""
    for number, length in enumerate([255, 256, 257, 511, 512]):
        url = f"/f/{number}?n=".ljust(length - len(tail), "0") + tail
        client = daemon.client().send(b"PUT " + url[:20].encode())
        until(lambda: daemon.stats()["connections"] >= number + 2)
        client.send(url[20:].encode() + b" HTTP/1.1\r\n\r\n")
        assert client.reply().status in (201, 400)
