"""The same bits in Redis: the daemon as one of several users of a bitmap."""

import contextlib
import shutil
import socket
import subprocess
import time

import own_redis
import pytest
from bloomfilter import BloomFilter
from daemons import PATIENCE

pytestmark = pytest.mark.skipif(not shutil.which("redis-server"), reason="no redis-server here")


@pytest.fixture
def redis(tmp_path):
    """(URL, process) of a server of this test's own."""
    with own_redis.running(tmp_path) as (port, process):
        yield f"redis://127.0.0.1:{port}/0?key=seen", process


def test_shared_with_python(start, redis):
    url, _ = redis
    one, two = (
        start("-n", 1000, "-p", 0.01, "--storage", url, "--threads", 2),
        start("--storage", url),
    )
    python = BloomFilter.open(url)
    assert one.get("/add=a").headers["x-new"] == "1"
    assert two.get("/add=a").headers["x-new"] == "0"
    python.add("b")
    assert one.post("/contain", b"a\nb\nc").body == b"110"
    assert one.stats()["home"] == "redis"


def test_named_filters(start, redis):
    url, _ = redis
    one = start("-n", 1000, "-p", 0.01, "--storage", url)
    assert one.ask("PUT", "/f/x?n=100&p=0.01").status == 201
    one.get("/f/x/add=k")
    assert one.get("/contain=k").body == b"false"
    two = start("--storage", url)
    assert two.get("/f/x/contain=k").body == b"true"  # found where the other put it
    assert two.get("/f/y/contain=k").status == 404
    assert "k" in BloomFilter.open(url + ":f:x")
    assert (
        one.ask("PUT", "/f/meta?n=100&p=0.01").status == 201
    )  # seen:meta is what Redis holds of `seen` itself
    assert one.get("/add=still").body == b"ok"
    assert one.ask("DELETE", "/f/x").status == 200
    assert two.get("/f/x/contain=k").status in (404, 503)


def test_a_lost_redis_is_an_error_never_absent(start, redis):
    url, process = redis
    daemon = start("-n", 1000, "-p", 0.01, "--storage", url)
    client = daemon.client()
    assert client.get("/add=k").status == 200
    process.kill()
    process.wait()
    for method, path, body in (
        ("GET", "/contain=k", b""),
        ("GET", "/add=x", b""),
        ("POST", "/contain", b"k\nx"),
        ("GET", "/stats", b""),
        ("GET", "/healthz", b""),
    ):
        got = client.ask(method, path, body)
        assert (got.status, got.reason) == (503, "Service Unavailable"), path
        assert b"127.0.0.1" in got.body or got.headers["x-error"]
    metrics = client.get("/metrics").body
    assert b'bloomfilter_up{filter="default"} 0' in metrics
    assert b"bloomfilter_fill{" not in metrics


@pytest.mark.parametrize("options", [(), ("--counting",), ("--grow", 2)])
def test_a_companion_hash_that_is_gone_is_the_same_error_for_all(start, redis, options):
    """The bits are there, so what runs is right; but it ends when the daemon looks, once a second,
    as a daemon that is started now says from the beginning."""
    url, process = redis
    daemon = start("-n", 1000, "-p", 0.01, "--storage", url, *options)
    client = daemon.client()
    assert client.get("/add=k").status == 200
    admin = BloomFilter.open(url) if not options else None
    port = int(url.split(":")[2].split("/")[0])
    with socket.create_connection(("127.0.0.1", port), 30) as raw:
        raw.sendall(b"RENAME seen:meta elsewhere\r\n")
        assert raw.recv(100) == b"+OK\r\n"
        until = time.monotonic() + PATIENCE
        while (got := client.get("/contain=k")).status == 200 and time.monotonic() < until:
            assert got.body == b"true"
        assert got.status == 503
        assert client.get("/add=x").status == 503
        raw.sendall(b"RENAME elsewhere seen:meta\r\n")
        assert raw.recv(100) == b"+OK\r\n"
    assert client.get("/contain=k").body == b"true"
    if admin:
        assert "k" in admin


def test_rediss(start, tmp_path):
    """TLS to Redis, with a certificate that only the URL's `ca` vouches for."""
    pem, key = tmp_path / "redis.pem", tmp_path / "redis.key"
    make = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost".split()
    names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run([*make, *names, "-keyout", key, "-out", pem], check=True, capture_output=True)
    port = own_redis.free_port()
    tls = ["--tls-port", port, "--tls-cert-file", pem, "--tls-key-file", key]
    tls += ["--tls-ca-cert-file", pem, "--tls-auth-clients", "no", "--port", 0, "--save", ""]
    process = subprocess.Popen(
        ["redis-server", *map(str, tls), "--dir", str(tmp_path)], stdout=subprocess.DEVNULL
    )
    try:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            with contextlib.suppress(ConnectionError):
                socket.create_connection(("127.0.0.1", port), 5).close()
                break
        url = f"rediss://localhost:{port}/0?key=seen&ca={pem}"
        daemon = start("-n", 1000, "-p", 0.01, "--storage", url)
        assert daemon.get("/add=k").headers["x-new"] == "1"
        assert daemon.get("/contain=k").body == b"true"
        assert daemon.stats()["home"] == "redis"
    finally:
        process.kill()
        process.wait()
