"""Growing, forgetting and counting filters, served: named and default, in memory, files and Redis,
through restarts and kill -9."""

import itertools
import json
import re
import threading

import pytest
from bloomfilter import BloomFilter, CountingBloomFilter
from daemons import (
    FRAMED,
    PATIENCE,
    ended,
    framed,
    lines_of,
    needs_redis,
    redis_command,
    redis_url,
    until,
    until_status,
)

KINDS = {
    "grow": "?n=500&p=0.01&grow=2",
    "window": "?n=500&p=0.01&window=3600&parts=3",
    "counting": "?n=500&p=0.01&counting=1",
    "fixed": "?n=500&p=0.01",
}
OPTIONS = {
    "grow": ["--grow", 2],
    "window": ["--window", 3600, "--parts", 3],
    "counting": ["--counting"],
    "fixed": [],
}
OPENED = {"counting": CountingBloomFilter}
MANY = lines_of(range(1500))


@pytest.fixture(params=["memory", "folder"])
def args(request, tmp_path):
    return [] if request.param == "memory" else ["--storage", f"{tmp_path}/filters/", "--create"]


@pytest.mark.parametrize("kind", KINDS)
def test_made_by_put(start, args, kind):
    daemon = start(*args)
    made = daemon.ask("PUT", "/f/x" + KINDS[kind])
    assert made.status == 201
    assert json.loads(made.body)["kind"] == daemon.stats("x")["kind"] == kind
    assert json.loads(daemon.get("/f").body)["x"]["kind"] == kind
    assert daemon.ask("PUT", "/f/x" + KINDS[kind]).status == 200
    for other, query in KINDS.items():
        if other != kind:
            got = daemon.ask("PUT", "/f/x" + query)
            assert got.status == 409
            assert kind in got.headers["x-error"] and other in got.headers["x-error"]
    assert daemon.ask("PUT", "/f/x" + KINDS[kind].replace("0.01", "0.02")).status == 409
    keys = lines_of(range(2000))
    daemon.post("/f/x/add", keys)
    assert daemon.get("/f/x/add=one").headers["x-new"] == "1"
    assert daemon.post("/f/x/contain", keys).body == b"1" * 2000
    assert daemon.ask("PUT", "/f/x" + KINDS[kind]).status == 200  # what has grown is the same
    image = OPENED.get(kind, BloomFilter).from_bytes(daemon.get("/f/x").body)
    assert "one" in image and "1999" in image
    metrics = daemon.get("/metrics").body.decode()
    assert f'bloomfilter_info{{filter="x",kind="{kind}"' in metrics
    parts = int(re.search(r'bloomfilter_parts{filter="x"} (\d+)', metrics)[1])
    assert parts == daemon.stats("x")["parts"]
    assert parts >= 2 if kind == "grow" else parts == {"window": 4}.get(kind, 1)
    page = daemon.get("/").body.decode()
    several = f", {parts} parts" if kind in ("grow", "window") else ""
    assert f'<td data-name="kind">{kind}{several}<td' in page
    assert '<td data-name="planned keys (n)">500<td' in page


@pytest.mark.parametrize("kind", KINDS)
def test_the_default_filter(start, tmp_path, kind):
    path, sizes = tmp_path / "d.bloom", ["-n", 500, "-p", 0.01]
    for storage, home in (([], "memory"), (["--storage", path], "file")):
        daemon = start(*sizes, *OPTIONS[kind], *storage)
        assert (daemon.stats()["kind"], daemon.stats()["home"]) == (kind, home)
        assert daemon.post("/add", lines_of(range(1000))).status == 200
        assert daemon.post("/contain", b"0\n999").body == b"11"
        daemon.stop()
    for again in ([], OPTIONS[kind], sizes):
        daemon = start(*again, *storage)
        assert daemon.stats()["kind"] == kind
        assert daemon.post("/contain", b"0\n999").body == b"11"
        daemon.stop()
    code, said = ended("--storage", path, "-n", 501, "-p", 0.01, *OPTIONS[kind])
    assert code == 1 and "n=500" in said and "n=501" in said


@pytest.mark.parametrize("kind", KINDS)
def test_without_sizes_it_has_the_usual_ones(start, kind):
    stats = start(*OPTIONS[kind]).stats()
    assert (stats["kind"], stats["n"], stats["p"]) == (kind, 1_000_000, 0.01)
    assert stats["home"] == "memory"


@pytest.mark.parametrize(("kind", "size"), [*((kind, 50) for kind in KINDS), ("fixed", 1)])
def test_kill_9_loses_no_acknowledged_key(start, tmp_path, kind, size):
    """Adders on several connections, the daemon killed in the middle: what was answered is there,
    also after an orderly end."""
    args = ["--storage", f"{tmp_path}/filters/", "--create", "--threads", 2]
    daemon = start(*args)
    n = "n=500" if kind == "grow" else "n=100000"
    assert daemon.ask("PUT", "/f/x" + KINDS[kind].replace("n=500", n)).status == 201
    acknowledged, enough = [[] for _ in range(4)], threading.Event()

    def add(number, client, mine):
        try:
            for i in range(100_000):
                keys = [b"%d-of-%d-of-%d" % (k, i, number) for k in range(size)]
                if size == 1:
                    got = client.get(b"/f/x/add=" + keys[0])
                else:
                    got = client.ask("POST", "/f/x/add", lines_of(keys))
                assert got.status == 200
                mine.extend(keys)
                if i == 40:
                    enough.set()
        except (EOFError, OSError):
            pass

    adders = [
        threading.Thread(target=add, args=(number, daemon.client(), mine))
        for number, mine in enumerate(acknowledged)
    ]
    for adder in adders:
        adder.start()
    assert enough.wait(PATIENCE)
    daemon.kill()
    for adder in adders:
        adder.join(PATIENCE)
    keys = sum(acknowledged, [])
    for _ in range(2):
        daemon = start(*args)
        assert daemon.stats("x")["kind"] == kind
        assert daemon.post("/f/x/contain", lines_of(keys)).body == b"1" * len(keys)
        daemon.stop()


@pytest.mark.parametrize("prefix", ["", "/f/x"])
def test_removing_and_counting(start, prefix):
    daemon = start("-n", 1000, "-p", 0.0001, "--counting")
    client = daemon.client()
    client.ask("PUT", "/f/x?n=1000&p=0.0001&counting=1")

    def each(verb, says, *keys):
        got = [client.get(f"{prefix}/{verb}={key}") for key in keys]
        return [int(one.headers[says] if says else one.body) for one in got]

    assert each("add", "x-new", *["a"] * 3, "b&/") == [1, 0, 0, 1]
    assert each("count", None, "a", "b&/", "c") == [3, 1, 0]
    assert each("remove", "x-removed", "a", "c") == [1, 0]
    assert client.ask("POST", prefix + "/remove", b"a\nb&/\nc\na\na").body == b"11010"
    assert client.ask("POST", prefix + "/contain", b"a\nb&/\nc").body == b"000"
    assert client.ask("POST", prefix + "/add", b"a\na\nb\n" + b"much\n" * 20).status == 200
    assert client.ask("POST", prefix + "/count", b"a\nb\nc\nmuch").body == bytes([2, 1, 0, 15])
    assert client.ask("POST", prefix + "/count", framed([b"a", b""]), **FRAMED).body == b"\2\0"
    assert client.ask("POST", prefix + "/remove", b"").body == b""
    assert daemon.stats("x" if prefix else None)["removed"] == 4


def test_a_window_forgets(start):
    daemon = start()
    assert daemon.ask("PUT", "/f/x?n=100&p=0.01&window=0.5").status == 201
    daemon.get("/f/x/add=k")
    assert daemon.stats("x")["window"] == 0.5
    until(lambda: daemon.get("/f/x/contain=k").body == b"false")


def test_limits_hold_for_all_of_them(start):
    daemon = start("-n", 1000, "-p", 0.01, "--max-filter", "1M", "--max-total", "3M")
    for kind in ("grow=2", "window=60", "counting=1"):
        assert daemon.ask("PUT", f"/f/x?n=10000000&p=0.01&{kind}").status == 507, kind
    # four bits per position: what a plain filter of this size fits in, counters do not
    assert daemon.ask("PUT", "/f/plain?m=4000000&n=300000").status == 201
    assert daemon.ask("PUT", "/f/x?m=4000000&n=300000&counting=1").status == 507


NAMES = ("a:b", "{tag}:x", "me@host", "x:meta", "x:0", "-._", "a" * 128)


def test_names(start, args):
    daemon = start(*args)
    encoded = {name: "".join(f"%{ord(c):02x}" for c in name) for name in NAMES}
    for name, other in encoded.items():
        assert daemon.ask("PUT", f"/f/{name}" + KINDS["fixed"]).status == 201
        assert daemon.get(f"/f/{other}/add=k").body == b"ok"
        assert daemon.post(f"/f/{other}/contain", b"k").body == b"1"
        assert daemon.stats(name)["adds"] == 1
    assert set(json.loads(daemon.get("/f").body)) == {"default", *NAMES}
    daemon.stop()
    if args:
        daemon = start(*args)
        for name, other in encoded.items():
            assert daemon.get(f"/f/{name}/contain=k").body == b"true"
            assert daemon.ask("DELETE", f"/f/{other}").status == 200


def test_a_merge_of_another_kind_is_a_conflict(start):
    daemon = start()
    for kind, query in KINDS.items():
        daemon.ask("PUT", f"/f/{kind}{query}")
        daemon.get(f"/f/{kind}/add={kind}")
    images = {kind: daemon.get(f"/f/{kind}").body for kind in KINDS}
    for kind in KINDS:
        for other, image in images.items():
            got = daemon.post(f"/f/{kind}/merge", image)
            assert got.status == (200 if kind == other else 409), (kind, other, got)
    assert daemon.get("/f/counting/count=counting").body == b"2"


# ---- Redis ----
@needs_redis
@pytest.mark.parametrize("kind", KINDS)
def test_in_redis(start, redis, kind):
    url = redis_url(redis[0])
    one = start("-n", 500, "-p", 0.01, *OPTIONS[kind], "--storage", url)
    assert one.stats()["kind"] == kind
    names = ("x", "x:meta", "{x}@y")
    for name in names:
        assert one.ask("PUT", f"/f/{name}{KINDS[kind]}").status == 201
        assert one.post(f"/f/{name}/add", MANY).body.count(b"1") > 1350
    other = start("--storage", url)
    assert other.stats()["kind"] == kind
    for name in names:
        assert other.post(f"/f/{name}/contain", b"0\n1499").body == b"11"
        shown = other.stats(name)
        assert shown["kind"] == kind and (kind != "grow" or shown["parts"] > 1)
        assert other.ask("PUT", f"/f/{name}{KINDS[kind]}").status == 200
    if kind == "counting":
        assert one.get("/f/x/remove=7").headers["x-removed"] == "1"
        assert other.get("/f/x/count=7").body in (b"0", b"1")
    if kind != "window":
        for at, name in (("", "default"), (":f:x", "x"), (":f:x%253Ameta", "x:meta")):
            python = OPENED.get(kind, BloomFilter).open(url + at)
            assert python.add(f"of {name}") and ("299" in python) == (name != "default")
            assert one.get(f"/f/{name}/contain=of+{name}").body == b"true"
            assert one.get(f"/f/{name}/contain=of+y").body == b"false"
    assert one.get("/f/y/contain=k").status == 404


@needs_redis
@pytest.mark.parametrize("kind", KINDS)
def test_what_redis_lost_is_made_again_or_deleted(start, redis, kind):
    """By PUT with the same parameters or others, or by DELETE, whether somebody has noticed or not;
    another daemon follows."""
    port, _ = redis
    one, other = (start("-n", 500, "-p", 0.01, "--storage", redis_url(port)) for _ in range(2))
    agains = (None, kind, "counting" if kind == "grow" else "grow")
    losts = ("DEL app:f:x", "FLUSHALL")
    for lost, noticed, again in itertools.product(losts, (False, True), agains):
        assert one.ask("PUT", "/f/x" + KINDS[kind]).status == 201
        assert one.post("/f/x/add", MANY).status == 200
        until_status(200, lambda: other.get("/f/x/contain=1"))
        redis_command(port, lost)
        got = one.get("/f/x/contain=1").status if noticed else 503
        # once a second a daemon looks for the hash: without one it knows no such filter
        assert got == 503 or (got, lost) == (404, "FLUSHALL")
        if again:
            assert one.ask("PUT", "/f/x" + KINDS[again]).status == 201
            assert one.stats("x")["kind"] == again
            assert one.get("/f/x/add=k").headers["x-new"] == "1"
            assert one.post("/f/x/contain", b"k\n1").body == b"10"
            assert one.ask("PUT", "/f/x" + KINDS[again]).status == 200
            assert until_status(200, lambda: other.get("/f/x/contain=k")).body == b"true"
        assert one.ask("DELETE", "/f/x").status == (404 if got == 404 and not again else 200)
        for daemon in (one, other):
            until_status(404, lambda daemon=daemon: daemon.get("/f/x/contain=1"))
        assert redis_command(port, "EXISTS app:f:x app:f:x:meta") == b":0\r\n"
