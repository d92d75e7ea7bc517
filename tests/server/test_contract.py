"""Every line of the contract's table, and that a request has exactly one reply."""

import itertools
import json
import random
import re
import shutil
import urllib.parse

import pytest
from bloomfilter import BloomFilter, CountingBloomFilter
from daemons import FRAMED, TAKES_RAW, asks, framed, lines_of

pytestmark = pytest.mark.quick

KEYS = [
    *b"a  42 a&b a?b a/b a=b a+b a%b \0 a\0b #x \xff\xfe".split(b" "),
    b"a b",
    "ключ".encode(),
    bytes(range(256)),
    b"k" * 5000,
]


def quoted(key):
    return urllib.parse.quote_from_bytes(key, safe="")


# ---- one key ----
def test_add_and_contain(daemon):
    client = daemon.client()
    for key in KEYS:
        assert client.get("/contain=" + quoted(key)).body == b"false", key
        first, again = client.get("/add=" + quoted(key)), client.get("/add=" + quoted(key))
        for got, new in ((first, "1"), (again, "0")):
            assert (got.status, got.reason, got.body) == (200, "OK", b"ok")
            assert got.headers["x-new"] == new
        found = client.get("/contain=" + quoted(key))
        assert (found.status, found.reason, found.body) == (200, "OK", b"true")


@pytest.mark.parametrize(
    "target, key",
    [
        (b"/add=a&b", b"a&b"),
        (b"/add=a?b=c", b"a?b=c"),
        (b"/add=a/b//c", b"a/b//c"),
        (b"/add==", b"="),
        (b"/add=", b""),
        (b"/add=a+b", b"a b"),
        (b"/add=a%2Bb", b"a+b"),
        (b"/add=%2525", b"%25"),
        (b"/add=a%00b", b"a\0b"),
        (b"/add=%41%6a", b"Aj"),
        (b"/add=a#b", b"a#b"),
        (b"/add=add=b", b"add=b"),
        (b"/add=../../etc", b"../../etc"),
        (b"http://localhost/add=x", b"x"),
        (b"/add=http://any/", b"http://any/"),
    ],
)
def test_the_key_is_everything_behind_the_first_equals_sign_decoded_once(daemon, target, key):
    client = daemon.client()
    assert client.ask("GET", target).headers["x-new"] == "1"
    assert client.ask("POST", "/contain", framed([key]), **FRAMED).body == b"1"
    assert client.ask("GET", target.replace(b"/add=", b"/contain=", 1)).body == b"true"


def test_bytes_past_ascii_in_a_url_are_the_key_or_refused(daemon):
    """Never another key."""
    got = daemon.ask("GET", b"/add=\xc3\xa9")
    if not TAKES_RAW:
        assert (got.status, got.body, daemon.stats()["adds"]) == (400, b"Error Command", 0)
        got = daemon.ask("GET", b"/add=%c3%a9")
    assert (got.status, got.headers["x-new"]) == (200, "1")
    keys = framed(["é".encode(), b"\xc3", b"\xa9"])
    assert daemon.post("/contain", keys, **FRAMED).body == b"100"


def test_same_keys_as_the_library(start):
    """42 here, 42 in Python; the whole filter is the same, bit by bit."""
    rng = random.Random(1)
    client, own = start("-m", 9999, "-n", 500).client(), BloomFilter(m=9999, n=500)
    for key in [rng.randbytes(rng.randrange(40)) for _ in range(500)] + KEYS:
        assert client.get("/add=" + quoted(key)).headers["x-new"] == str(int(own.add(key)))
    assert client.get("/f/default").body == own.to_bytes()
    client.get("/add=42")
    assert 42 in BloomFilter.from_bytes(client.get("/f/default").body)


# ---- batches ----
@pytest.mark.parametrize(
    "body, keys",
    [
        (b"", []),
        (b"\n", [b""]),
        (b"a", [b"a"]),
        (b"a\n", [b"a"]),
        (b"a\n\nb", [b"a", b"", b"b"]),
        (b"\n\n", [b"", b""]),
        (b"a\r\nb", [b"a\r", b"b"]),
        (b"a+b%20c\n", [b"a+b%20c"]),
        (b"\0\n\xff", [b"\0", b"\xff"]),
    ],
)
def test_lines(daemon, body, keys):
    client = daemon.client()
    assert client.ask("POST", "/contain", body).body == b"0" * len(keys)
    new = bytes(b"01"[key not in keys[:i]] for i, key in enumerate(keys))
    assert client.ask("POST", "/add", body).body == new
    assert client.ask("POST", "/contain", framed(keys), **FRAMED).body == b"1" * len(keys)


@pytest.mark.parametrize("count", [1, 65, 1025, 30_000])
@pytest.mark.parametrize("how", ["lines", "framed", "chunked"])
def test_batches_answer_as_single_keys_do(start, count, how):
    daemon, own = start("-n", 50_000, "-p", 0.01), BloomFilter(n=50_000, p=0.01)
    rng = random.Random(count)
    keys = [b"%d" % rng.randrange(count * 2) for _ in range(count)]
    body = b"\n".join(keys) if how != "framed" else framed(keys)
    headers = FRAMED if how == "framed" else {}
    client = daemon.client()
    for path in ("/add", "/contain", "/add"):
        expected = bytes(b"01"[own.add(key) if path == "/add" else key in own] for key in keys)
        if how == "chunked":
            head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
            client.send(head.encode())
            for at in range(0, len(body), 7001):
                client.send(b"%x\r\n%s\r\n" % (len(body[at : at + 7001]), body[at : at + 7001]))
            got = client.send(b"0\r\n\r\n").reply()
        else:
            got = client.ask("POST", path, body, **headers)
        assert got.status == 200
        assert got.body == expected
    stats = daemon.stats()
    assert (stats["adds"], stats["hits"] + stats["misses"]) == (2 * count, count)


def test_any_bytes_are_a_key_where_framed(daemon):
    client = daemon.client()
    assert client.ask("POST", "/add", framed(KEYS), **FRAMED).body == b"1" * len(KEYS)
    assert client.ask("POST", "/add", framed(KEYS), **FRAMED).body == b"0" * len(KEYS)
    got = client.ask("POST", "/contain", framed([*KEYS, b"\n", b"x"]), **FRAMED)
    assert got.body == b"1" * len(KEYS) + b"00"
    for name in ("application/x-bloomfilter-keys", "Application/X-Bloomfilter-Keys"):
        # which a client's library may add by itself
        for parameters in ("; charset=utf-8", ";charset=utf-8; q=1", " ; x=y", ";"):
            got = client.ask(
                "POST", "/contain", framed([*KEYS, b"x"]), Content_Type=name + parameters
            )
            assert got.body == b"1" * len(KEYS) + b"0"
    for other in (f"{name}2", f"text/plain; {name}", "", ";"):
        assert client.ask("POST", "/contain", b"x\ny\n", Content_Type=other).body == b"00"


# ---- named filters ----
def test_named_filters(daemon):
    client = daemon.client()
    made = client.ask("PUT", "/f/seen.v1-x_Y?n=1000&p=0.01")
    assert (made.status, made.reason) == (201, "Created")
    assert json.loads(made.body)["n"] == 1000
    assert client.ask("PUT", "/f/seen.v1-x_Y?n=1000&p=0.01").status == 200
    differs = client.ask("PUT", "/f/seen.v1-x_Y?n=1000&p=0.02")
    assert (differs.status, differs.reason) == (409, "Conflict")
    assert differs.headers["x-error"] == "seen.v1-x_Y has p=0.01, asked for p=0.02"
    assert client.get("/f/seen.v1-x_Y/add=k").headers["x-new"] == "1"
    assert client.get("/f/seen.v1-x_Y/contain=k").body == b"true"
    assert client.get("/contain=k").body == b"false"
    assert client.ask("POST", "/f/seen.v1-x_Y/add", b"k\nl").body == b"01"
    assert (
        client.ask("POST", "/f/seen.v1-x_Y/contain", framed([b"l", b"m"]), **FRAMED).body == b"10"
    )
    assert (
        json.loads(client.get("/f").body)["seen.v1-x_Y"]["m"]
        == BloomFilter.plan(n=1000, p=0.01)["m"]
    )
    assert json.loads(client.get("/f/seen.v1-x_Y/stats").body)["adds"] == 3
    image = BloomFilter.from_bytes(client.get("/f/seen.v1-x_Y").body)
    assert (b"k" in image, b"l" in image, b"m" in image) == (True, True, False)
    assert client.ask("DELETE", "/f/seen.v1-x_Y").status == 200
    for method, target, body in asks(
        "GET /, DELETE /, GET /add=k, GET /contain=k, POST /add, GET /stats"
    ):
        target = "/f/seen.v1-x_Y" + target.removesuffix("/")
        assert client.ask(method, target, body).status == 404, target
    image = BloomFilter(100, 10).to_bytes()
    assert client.ask("POST", "/f/seen.v1-x_Y/merge", image).status == 404
    assert "seen.v1-x_Y" not in json.loads(client.get("/f").body)


PUTS = {  # what the constructor is given; numbers are written as for the command
    "m=1000&n=100": {"m": 1000, "n": 100},
    "m=1000&k=5": {"m": 1000, "k": 5},
    "n=1000&p=0.5": {"n": 1000, "p": 0.5},
    "m=4096&n=100&k=3": {"m": 4096, "n": 100, "k": 3},
    "n=100&p=0.001&scheme=classic": {"n": 100, "p": 0.001, "scheme": "classic"},
    "n=1e3&p=1e-3&scheme=%67uava%3achars": {"n": 1000, "p": 0.001, "scheme": "guava:chars"},
    "n=100k&p=1%": {"n": 100_000, "p": 0.01},
    "n=0.1M&p=1%25": {"n": 100_000, "p": 0.01},
    "n=1.001k&p=0.7%": {"n": 1001, "p": 0.007},
    "n=1e5&p=%31%25": {"n": 100_000, "p": 0.01},
}


@pytest.mark.parametrize("query", PUTS)
def test_put_takes_what_the_constructor_takes(daemon, query):
    plan, names = BloomFilter.plan(**PUTS[query]), ("m", "n", "k", "p", "scheme")
    got = json.loads(daemon.ask("PUT", "/f/x?" + query).body)
    assert {name: got[name] for name in names} == {name: plan[name] for name in names}
    assert daemon.ask("PUT", "/f/x?" + query).status == 200


def test_the_command_takes_the_same_numbers(start):
    stats = start("-n", "1.001k", "-p", "0.7%").stats()
    assert (stats["n"], stats["p"]) == (1001, 0.007)


def test_merge(daemon):
    client = daemon.client()
    client.ask("PUT", "/f/a?n=1000&p=0.01")
    client.get("/f/a/add=mine")
    other = BloomFilter(n=1000, p=0.01)
    other.update(["one", "two"])
    assert client.ask("POST", "/f/a/merge", other.to_bytes()).status == 200
    assert client.ask("POST", "/f/a/contain", b"mine\none\ntwo\nthree").body == b"1110"
    unlike = BloomFilter(n=5000, p=0.01)
    assert client.ask("POST", "/f/a/merge", unlike.to_bytes()).status == 409


def test_the_first_filter_is_default(daemon):
    client = daemon.client()
    client.get("/add=k")
    assert client.get("/f/default/contain=k").body == b"true"
    assert client.ask("DELETE", "/f/default").status == 409
    assert client.get("/contain=k").body == b"true"


# ---- numbers ----
def test_stats(daemon):
    client, own = daemon.client(), BloomFilter(n=100_000, p=0.0001)
    keys = [b"%d" % i for i in range(5000)]
    own.update(keys)
    client.ask("POST", "/add", b"\n".join(keys))
    client.ask("POST", "/add", b"\n".join(keys[:10]))
    client.ask("POST", "/contain", b"\n".join(keys[:7]) + b"\nno\nnone\nnever")
    stats = json.loads(client.get("/stats").body)
    plan = BloomFilter.plan(n=100_000, p=0.0001)
    assert {name: stats[name] for name in ("m", "n", "k", "p", "scheme")} == {
        name: plan[name] for name in ("m", "n", "k", "p", "scheme")
    }
    assert (stats["adds"], stats["adds_new"], stats["hits"], stats["misses"]) == (5010, 5000, 7, 3)
    assert stats["fill"] == pytest.approx(own.fill_ratio, rel=1e-6)
    assert stats["fpr_now"] == pytest.approx(own.fpr, rel=1e-6)
    assert stats["count"] == len(own) and stats["saturated"] is False


def test_metrics(daemon):
    client = daemon.client()
    client.ask("PUT", "/f/other?n=10&p=0.1")
    client.get("/add=a"), client.get("/contain=a"), client.get("/contain=b"), client.get("/nothing")
    got = client.get("/metrics")
    assert got.headers["content-type"] == "text/plain; version=0.0.4"
    values, types = {}, {}
    for line in got.body.decode().splitlines():
        if line.startswith("# TYPE"):
            _, _, name, kind = line.split()
            assert name not in types
            # `promtool check metrics` refuses these: parts of histograms, units that are not base units
            assert not re.search(r"_(count|sum|bucket|bits|[mshdb]|[mun]s|[kmg]b)$", name)
            types[name] = kind
        elif not line.startswith("#"):
            name, labels, value = re.fullmatch(
                r"(bloomfilter_[a-z_]+)(?:\{([a-z]+=\"[^\"]*\")(?:,[^}]*)?\})? (\S+)", line
            ).groups()
            assert name in types
            assert (types[name] == "counter") == name.endswith("_total")
            values[name, labels] = float(value)
    main, other = 'filter="default"', 'filter="other"'
    assert (values["bloomfilter_n", main], values["bloomfilter_n", other]) == (100_000, 10)
    assert (values["bloomfilter_keys", other], values["bloomfilter_bytes", other]) == (0, 64)
    assert (
        values["bloomfilter_adds_total", main],
        values["bloomfilter_hits_total", main],
        values["bloomfilter_misses_total", main],
    ) == (1, 1, 1)
    assert values["bloomfilter_adds_total", other] == 0
    assert values["bloomfilter_requests_total", 'code="400"'] == 1
    assert values["bloomfilter_requests_total", 'code="200"'] == 3
    assert (values["bloomfilter_up", main], values["bloomfilter_saturated", main]) == (1, 0)


# ---- anything else ----
METHODS = "GET HEAD POST PUT DELETE OPTIONS PATCH TRACE CONNECT PROPFIND".split()
ANSWERED = {
    "/add=k": {"GET", "HEAD"},
    "/contain=k": {"GET", "HEAD"},
    "/add": {"POST"},
    "/contain": {"POST"},
    "/f": {"GET", "HEAD"},
    "/stats": {"GET", "HEAD"},
    "/metrics": {"GET", "HEAD"},
    "/healthz": {"GET", "HEAD"},
    "/": {"GET", "HEAD"},
    "/f/x/add=k": {"GET", "HEAD"},
    "/f/x/add": {"POST"},
    "/f/x/stats": {"GET", "HEAD"},
    "/f/x": {"GET", "HEAD", "PUT"},
}


@pytest.mark.parametrize("method", METHODS)
def test_every_path_with_every_method(daemon, method):
    client = daemon.client()
    client.ask("PUT", "/f/x?n=100&p=0.01")
    for path, methods in ANSWERED.items():
        if (method, path) == ("DELETE", "/f/x"):
            continue
        target = "host:80" if method == "CONNECT" else path
        got = client.ask(method, target + "?n=100&p=0.01" * ((method, path) == ("PUT", "/f/x")))
        expected = (200, "OK") if method in methods else (400, "Error Command")
        assert (got.status, got.reason) == expected, (method, path)
        if expected[0] == 400:
            assert got.body == (b"" if method == "HEAD" else b"Error Command")
    assert client.get("/contain=k").status == 200  # and not one byte more came than the replies


def test_head_is_get_without_a_body(daemon):
    client = daemon.client()
    for path in ("/contain=k", "/healthz", "/nothing", "/f", "/f/default", "/"):
        replies = head, _ = client.ask("HEAD", path), client.get(path)
        shown = [(got.status, got.reason, got.headers["content-length"]) for got in replies]
        assert shown[0] == shown[1] and head.body == b"", path
    assert client.ask("HEAD", "/add=k").headers["x-new"] == "1"
    assert client.get("/add=k").headers["x-new"] == "0"


def test_old_and_closing_clients(daemon):
    for request, kept in (
        (b"GET /contain=k HTTP/1.1\r\n\r\n", True),
        (b"GET /contain=k HTTP/1.1\r\nConnection: close\r\n\r\n", False),
        (b"GET /contain=k HTTP/1.0\r\n\r\n", False),
        (b"GET /contain=k HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", True),
    ):
        client = daemon.client().send(request)
        got = client.reply()
        assert (got.status, got.body) == (200, b"false")
        if kept:
            assert client.send(request).reply().body == b"false"
        else:
            assert got.headers["connection"] == "close"
            assert client.end() == b""


def test_expect_100_continue(daemon):
    client = daemon.client().send(
        b"POST /add HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n"
    )
    assert client.reply().status == 100
    assert client.send(b"a\nb").reply().body == b"11"


def test_weak_hashes_are_a_line_of_the_log(start, tmp_path):
    """Half a GiB of a file, of which nearly nothing is written."""
    if shutil.disk_usage(tmp_path).free < 2 << 30:
        pytest.skip("needs 2 GiB of disk")
    path = tmp_path / "theirs.bloom"
    BloomFilter(n=100, scheme="php-hashes:BKDR,JS", storage=str(path), warn=False).close()
    daemon = start("--storage", path)
    daemon.says("have the same value of BKDR, so")
    daemon.says(
        "filter default: scheme php-hashes: many URLs or numbers have the same value of BKDR,"
    )
    daemon.stop()  # a daemon whose file was deleted ends with an error
    path.unlink()
    assert "same value" not in start("-n", 1000, "-p", 0.01).said()


@pytest.mark.parametrize("kind", ["", "--counting", "--window"])
def test_a_filter_with_too_many_keys_is_a_line_of_the_log(start, tmp_path, kind):
    """Once; again after it was cleared and is full again."""
    cells = "counters" if kind == "--counting" else "bits"
    line = (
        f"filter default: more than half of the {cells} of a filter sized for n=1000 keys are set"
    )
    path, options = tmp_path / "seen.bloom", [kind] * bool(kind) + [3600] * (kind == "--window")
    daemon = start("-n", 1000, "-p", 0.01, "--storage", path, *options)

    def added(first, count, lines):
        assert daemon.post("/add", lines_of(range(first, first + count))).status == 200
        daemon.says(line, lines)

    added(0, 900, 0)
    added(900, 1200, 1)
    added(2000, 1, 1)
    assert daemon.stats()["saturated"] is True
    assert b'bloomfilter_saturated{filter="default"} 1\n' in daemon.get("/metrics").body
    for i in range(5):
        added(3000 + 300 * i, 300, 1)
    assert daemon.post("/clear", b"").status == 200
    added(5000, 300, 1)
    added(6000, 2000, 2)
    added(9000, 500, 2)


@pytest.mark.parametrize("headers", [{}, FRAMED])
def test_overfull_raise_is_507(start, tmp_path, headers):
    daemon = start("-n", 1000, "-p", 0.01, "--overfull", "raise", "--storage", tmp_path / "f")
    assert daemon.ask("PUT", "/f/named?n=1000&p=0.01").status == 201
    keys = [b"%d" % i for i in range(4000)]
    body = framed(keys) if headers else lines_of(keys)
    for at in ("", "/f/named"):
        reply = daemon.post(f"{at}/add", body, **headers)
        assert reply.status == 507 and "holds the n=1000 keys" in reply.headers["x-error"]
        added = int(reply.headers["x-added"])
        assert 930 < added < 1100
        counted = daemon.stats("named" if at else None)
        assert counted["adds"] == added and added - 30 < counted["adds_new"] <= added
        answers = daemon.post(f"{at}/contain", body, **headers).body
        assert answers[:added] == b"1" * added and answers[added:].count(b"1") < 1000
        assert daemon.get(f"{at}/add=x").status == 507
        assert daemon.get(f"{at}/contain=1").body == b"true"
    for how in ("warn", "ignore"):
        daemon = start("-n", 1000, "-p", 0.01, "--overfull", how)
        assert daemon.post("/add", lines_of(keys)).status == 200
        daemon.says("more than half", 1 if how == "warn" else 0)


@pytest.mark.parametrize("storage", ["memory", "folder"])
@pytest.mark.parametrize("kind", ["", "&counting=1"])
def test_put_chooses_overfull(start, tmp_path, storage, kind):
    """Of the filter, for as long as the daemon runs: also of one that is there, and of its file when
    that was replaced."""
    where = [] if storage == "memory" else ["--storage", f"{tmp_path}/", "--create"]
    daemon = start("-n", 1000, "-p", 0.01, *where)
    put = f"/f/named?n=1000&p=0.01{kind}"
    first = itertools.count(0, 4000)

    def keys():
        start = next(first)
        return lines_of(range(start, start + 4000))

    def adds(name="named"):
        return daemon.post(f"/f/{name}/add", keys()).status

    def shown(reply):
        return json.loads(reply.body).get("overfull")

    assert shown(daemon.ask("PUT", put)) is None
    assert adds() == 200
    for how, status in (("raise", 507), ("ignore", 200), ("raise", 507)):
        reply = daemon.ask("PUT", f"{put}&overfull={how}")
        assert (reply.status, shown(reply)) == (200, how)
        assert adds() == status
        assert daemon.post("/f/named/add", keys()[:2000]).status == status
    assert shown(daemon.ask("PUT", put)) == "raise"  # it stays
    assert daemon.post("/f/named/clear", b"").status == 200
    assert daemon.get("/f/named/add=other").status == 200
    assert adds() == 507
    if storage == "folder":
        other = CountingBloomFilter if kind else BloomFilter
        with other(n=1000, p=0.01, overfull="ignore") as bf:
            bf.update(range(4000))
            bf.save(tmp_path / "named.bloom")
        assert adds() == 507
    assert daemon.ask("PUT", f"/f/named?n=1001&p=0.01{kind}&overfull=warn").status == 409
    assert adds() == 507
    assert daemon.ask("PUT", f"/f/fresh?n=1000&p=0.01{kind}&overfull=raise").status == 201
    assert adds("fresh") == 507
    assert daemon.ask("DELETE", "/f/fresh").status == 200
    assert daemon.ask("PUT", f"/f/fresh?n=1000&p=0.01{kind}").status == 201
    assert adds("fresh") == 200
    daemon.says("filter fresh: more than half")
    daemon.says("filter named: more than half")
