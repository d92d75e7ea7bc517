"""Web pages: neither one whose name was pointed here (Host) nor one of another site (Origin,
Sec-Fetch-Site, Referer) gets in."""

import pytest
from daemons import Client, asks, started

CHANGES = asks("""PUT /f/y?n=10&p=0.1, POST /add k, DELETE /f/x, POST /f/x/merge x, GET /add=k,
    HEAD /add=k, GET /f/x/add=k, GET /remove=k, GET /f/x/remove=k, GET http://localhost/add=k,
    POST /contain k, POST /clear, POST /flush, POST /f/x/clear, POST /f/x/expire?seconds=1,
    POST /f/y""")
SHOWS = asks("""GET /, GET /stats, GET /f, GET /metrics, GET /contain=k, GET /f/x, GET /f/x/stats,
    GET /f/x/contain=k=k""")


@pytest.fixture(scope="module")
def with_x(tmp_path_factory):
    with started(tmp_path_factory.mktemp("x")) as start:
        daemon = start("-n", 1000, "-p", 0.01)
        assert daemon.ask("PUT", "/f/x?n=100&p=0.01").status == 201
        yield daemon


@pytest.fixture
def filled(with_x):
    yield with_x
    assert with_x.untouched() and with_x.stats("x")["adds"] == 0
    assert with_x.get("/f/y").status == 404


@pytest.mark.parametrize(
    "host",
    """evil.example evil.example:6381 127.0.0.1.evil.example localhost.evil.example 127.0.0.2
        [::2] ::1 [::1 localhost. localhost:6381:1 127.0.0.1@evil.example evil.example,localhost
        0.0.0.0 2130706433 :6381 null""".split(),
)
def test_another_host_is_refused(filled, host):
    for what in CHANGES + SHOWS:
        got = filled.ask(*what, Host=host)
        assert (got.status, got.reason) == (403, "Forbidden"), what
        assert host in got.headers["x-error"]
    assert filled.get("/healthz", Host=host).body == b"ok"


def test_our_own_hosts(daemon):
    hosts = "127.0.0.1 localhost LocalHost [::1] 127.0.0.1:6381 localhost:1 [::1]:65535".split()
    for host in [*hosts, ""]:
        assert daemon.get("/add=k", Host=host).body == b"ok"
        assert daemon.post("/contain", b"l", Host=host).body == b"0"
    # No browser leaves it out.
    for version in (b"1.0", b"1.1"):
        client = daemon.client().send(b"GET /add=k HTTP/%s\r\n\r\n" % version)
        assert client.reply().body == b"ok"


def test_the_host_of_an_absolute_url(filled):
    for target, host in (
        ("http://evil.example/add=k", "localhost"),
        ("http://localhost/add=k", "evil.example"),
    ):
        assert filled.get(target, Host=host).status == 403
    assert filled.get("http://localhost:80/contain=k").body == b"false"


@pytest.mark.parametrize(
    "origin",
    """http://evil.example https://evil.example null http://localhost:1 http://127.0.0.1
        http://localhost.evil.example file:// http:// localhost chrome-extension://abc""".split(),
)
def test_another_origin_is_refused(filled, origin):
    for what in CHANGES + SHOWS + asks("GET /healthz"):
        assert filled.ask(*what, Origin=origin).status == 403, what


def test_our_own_origin(daemon):
    for host in ("localhost", f"127.0.0.1:{daemon.port}", f"[::1]:{daemon.port}"):
        for scheme in ("http", "https"):  # TLS may end in front of us
            assert daemon.post("/add", b"k", Host=host, Origin=f"{scheme}://{host}").status == 200


@pytest.mark.parametrize(
    "header",
    [
        *(("Sec_Fetch_Site", site) for site in ("cross-site", "same-site", "Cross-Site", "x")),
        *(
            ("Referer", page)
            for page in """http://evil.example/ https://evil.example/localhost/ http://localhost:1/
                http://localhost@evil.example/ about:blank http://localhost.evil.example""".split()
        ),
    ],
    ids=str,
)
def test_what_another_site_makes_a_browser_send(filled, header):
    """Old browsers send a Referer alone."""
    for what in CHANGES:
        assert filled.ask(*what, **dict([header])).status == 403, what
    for what in SHOWS:
        assert filled.ask(*what, **dict([header])).status == 200, what


def test_our_own_page(daemon):
    for headers in (
        {"Sec_Fetch_Site": "same-origin"},
        {"Sec_Fetch_Site": "none"},
        {"Referer": "http://localhost/"},
        {"Referer": "http://localhost/?a#b"},
        {"Referer": "http://LOCALHOST"},
    ):
        assert daemon.get("/add=k", **headers).body == b"ok"
        assert daemon.post("/add", b"k", **headers).body == b"0"


def test_pages_are_refused_before_their_body_is_there(daemon):
    for header in (b"Host: evil.example\r\n", b"Host: localhost\r\nOrigin: null\r\n"):
        client = daemon.client().send(
            b"POST /add HTTP/1.1\r\n"
            + header
            + b"Expect: 100-continue\r\nContent-Length: 50000000\r\n\r\n"
        )
        assert client.reply().status == 403
        assert client.end() == b""


def test_a_token_does_not_replace_the_check(start):
    daemon = start("-n", 1000, "-p", 0.01, "--token", "T")
    for headers in (
        {"Host": "evil.example"},
        {"Origin": "http://evil.example"},
        {"Sec_Fetch_Site": "cross-site"},
    ):
        assert daemon.get("/add=k", Authorization="Bearer T", **headers).status == 403
    assert daemon.get("/add=k").status == 401


def test_allow_host(start):
    daemon = start("-n", 1000, "-p", 0.01, "--allow-host", "a.example", "--allow-host", "[fe80::1]")
    for host in ("a.example", "A.example:80", "localhost", "[FE80::1]:1"):
        assert daemon.get("/contain=k", Host=host).status == 200
        page = {"Origin": "https://a.example", "Referer": "https://a.example/page"}
        assert daemon.post("/contain", b"k", Host=host, **page).status == 200
    for host in ("b.example", "aa.example", "a.example.b"):
        assert daemon.get("/contain=k", Host=host).status == 403
    assert daemon.post("/contain", b"k", Origin="https://b.example").status == 403


def test_another_address_than_loopback(start):
    """Its names are not known here: Host is checked only where names are given, pages of other
    sites are refused all the same."""
    daemon = start("-n", 1000, "-p", 0.01, "--host", "0.0.0.0")
    assert "no token: whoever can reach 0.0.0.0 can add keys" in daemon.said()
    assert daemon.get("/add=k", Host="anything.example").body == b"ok"
    host = "anything.example:1"
    for headers, status in (
        ({"Origin": f"http://{host}"}, 200),
        ({"Origin": "http://evil.example"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
    ):
        assert daemon.post("/add", b"k", Host=host, **headers).status == status
    named = start("-n", 1000, "-p", 0.01, "--host", "0.0.0.0", "--allow-host", "a.example")
    assert [
        named.get("/add=k", Host=host).status for host in ("a.example", "localhost", "b.example")
    ] == [200, 200, 403]


def test_the_address_that_was_asked_for(start):
    daemon = start("-n", 1000, "-p", 0.01, "--host", "localhost")
    client = Client(daemon.port, "localhost")  # ::1 where a machine has no /etc/hosts
    assert client.get("/add=k", Host=f"localhost:{daemon.port}").body == b"ok"
    assert client.get("/add=k", Host="evil.example").status == 403


def test_403_is_counted(daemon):
    daemon.get("/add=k", Host="evil.example")
    assert b'bloomfilter_requests_total{code="403"} 1\n' in daemon.get("/metrics").body
