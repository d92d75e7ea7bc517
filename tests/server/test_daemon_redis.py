"""The same bits in Redis: the daemon as one of several users of a bitmap."""

import pytest
from bloomfilter import BloomFilter
from daemons import asks, needs_redis, redis_command, redis_url, until, until_status
from redis_tls import tls_server

pytestmark = needs_redis


@pytest.fixture
def url(redis):
    return redis_url(redis[0], "seen")


def test_a_lost_redis_is_an_error_never_absent(start, redis, url):
    _, process = redis
    daemon = start("-n", 1000, "-p", 0.01, "--storage", url)
    client = daemon.client()
    assert client.get("/add=k").status == 200
    assert client.get("/f/unknown/contain=1").status == 404
    process.kill()
    process.wait()
    for ask in asks("""GET /contain=k, GET /add=x, POST /contain k, GET /stats, GET /healthz,
        GET /f/unknown/contain=1, GET /f/unknown, DELETE /f/unknown, PUT /f/unknown?n=1000&p=0.01"""):
        got = client.ask(*ask)
        assert (got.status, got.reason) == (503, "Service Unavailable"), ask
        assert "127.0.0.1" in got.headers["x-error"] or b"127.0.0.1" in got.body
    metrics = client.get("/metrics").body
    assert b'bloomfilter_up{filter="default"} 0' in metrics
    assert b"bloomfilter_fill{" not in metrics


@pytest.mark.parametrize("options", [(), ("--counting",), ("--grow", 2)])
def test_a_companion_hash_that_is_gone_is_the_same_error_for_all(start, redis, url, options):
    """The bits are there, so what runs is right; but it ends when the daemon looks, once a second,
    as a daemon that is started now says from the beginning."""
    port, _ = redis
    daemon = start("-n", 1000, "-p", 0.01, "--storage", url, *options)
    client = daemon.client()
    assert client.get("/add=k").status == 200
    admin = BloomFilter.open(url) if not options else None
    assert redis_command(port, "RENAME seen:meta elsewhere") == b"+OK\r\n"
    until(lambda: (got := client.get("/contain=k")).status == 503 or got.body != b"true")
    assert client.get("/contain=k").status == client.get("/add=x").status == 503
    assert redis_command(port, "RENAME elsewhere seen:meta") == b"+OK\r\n"
    assert until_status(200, lambda: client.get("/contain=k")).body == b"true"
    if admin:
        assert "k" in admin


def test_rediss(start, tmp_path):
    """TLS to Redis, with a certificate that only the URL's `ca` vouches for."""
    with tls_server(tmp_path, "--tls-auth-clients", "no") as port:
        url = f"rediss://localhost:{port}/0?key=seen&ca={tmp_path}/ca.pem"
        daemon = start("-n", 1000, "-p", 0.01, "--storage", url)
        assert daemon.get("/add=k").headers["x-new"] == "1"
        assert daemon.get("/contain=k").body == b"true"
        assert daemon.stats()["home"] == "redis"
