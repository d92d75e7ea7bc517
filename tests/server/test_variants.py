"""Growing, forgetting and counting filters, served: named and default, in memory, files and Redis,
through restarts and kill -9."""

import json
import re
import threading
import time

import pytest
from bloomfilter import BloomFilter, CountingBloomFilter
from daemons import FRAMED, PATIENCE, framed, needs_redis, redis_url
from test_registry import command, until

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
    keys = b"\n".join(b"%d" % i for i in range(2000))
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
@pytest.mark.parametrize("place", ["memory", "file"])
def test_the_default_filter(start, tmp_path, kind, place):
    storage = [] if place == "memory" else ["--storage", f"{tmp_path}/d.bloom"]
    daemon = start("-n", 500, "-p", 0.01, *OPTIONS[kind], *storage)
    assert daemon.stats()["kind"] == kind
    daemon.post("/add", b"\n".join(b"%d" % i for i in range(1000)))
    if place == "file":
        daemon.stop()
        for again in ([], OPTIONS[kind], ["-n", 500, "-p", 0.01]):
            daemon = start(*again, *storage)
            assert daemon.stats()["kind"] == kind
            assert daemon.post("/contain", b"0\n999").body == b"11"
            daemon.stop()
    else:
        assert daemon.post("/contain", b"0\n999").body == b"11"


@pytest.mark.parametrize("kind", KINDS)
def test_without_sizes_it_has_the_usual_ones(start, kind):
    stats = start(*OPTIONS[kind]).stats()
    assert (stats["kind"], stats["n"], stats["p"]) == (kind, 1_000_000, 0.01)


@pytest.mark.parametrize("kind", KINDS)
def test_a_restart_and_a_kill_keep_it(start, tmp_path, kind):
    args = ["--storage", f"{tmp_path}/filters/", "--create"]
    daemon = start(*args)
    assert daemon.ask("PUT", "/f/x" + KINDS[kind]).status == 201
    acknowledged = []

    def add():
        client = daemon.client()
        try:
            for i in range(100_000):
                keys = b"\n".join(b"%d of %d" % (k, i) for k in range(50))
                if client.ask("POST", "/f/x/add", keys).status != 200:
                    return
                acknowledged.append(keys)
        except (EOFError, OSError):
            pass

    adding = threading.Thread(target=add)
    adding.start()
    end = time.monotonic() + PATIENCE
    while len(acknowledged) < 40 and time.monotonic() < end:
        time.sleep(0.001)
    daemon.kill()
    adding.join(PATIENCE)
    for _ in range(2):
        daemon = start(*args)
        assert daemon.stats("x")["kind"] == kind
        assert daemon.ask("PUT", "/f/x" + KINDS[kind]).status == 200
        for keys in acknowledged:
            assert daemon.post("/f/x/contain", keys).body == b"1" * 50
        daemon.stop()


@pytest.mark.parametrize("prefix", ["", "/f/x"])
def test_removing_and_counting(start, prefix):
    daemon = start("-n", 1000, "-p", 0.0001, "--counting")
    assert daemon.ask("PUT", "/f/x?n=1000&p=0.0001&counting=1").status == 201
    for _ in range(3):
        daemon.get(prefix + "/add=a")
    daemon.get(prefix + "/add=b%26%2F")
    assert daemon.get(prefix + "/count=a").body == b"3"
    assert daemon.get(prefix + "/count=b&/").body == b"1"
    assert daemon.get(prefix + "/count=c").body == b"0"
    got = daemon.get(prefix + "/remove=a")
    assert (got.status, got.body, got.headers["x-removed"]) == (200, b"ok", "1")
    assert daemon.get(prefix + "/remove=c").headers["x-removed"] == "0"
    counted = daemon.post(prefix + "/count", b"a\nb&/\nc")
    assert counted.body == bytes([2, 1, 0])
    assert daemon.post(prefix + "/count", framed([b"a", b""]), **FRAMED).body == bytes([2, 0])
    assert daemon.post(prefix + "/remove", b"a\nb&/\nc\na\na").body == b"11010"
    assert daemon.post(prefix + "/contain", b"a\nb&/\nc").body == b"000"
    daemon.post(prefix + "/add", b"much\n" * 20)
    assert daemon.get(prefix + "/count=much").body == b"15"
    assert daemon.post(prefix + "/count", b"much").body == b"\x0f"
    assert daemon.post(prefix + "/remove", b"").body == b""
    stats = daemon.stats("x" if prefix else None)
    assert stats["removed"] == 4
    many = b"\n".join(b"%d" % i for i in range(300))
    daemon.post(prefix + "/add", many)
    assert daemon.post(prefix + "/remove", many).body == b"1" * 300
    assert daemon.get(prefix + "/count=%").status == 400
    assert daemon.get(prefix + "/remove=%4").status == 400


@pytest.mark.parametrize("kind", ["fixed", "grow", "window"])
@pytest.mark.parametrize("prefix", ["", "/f/x"])
def test_what_is_not_counting_can_neither_remove_nor_count(start, kind, prefix):
    daemon = start("-n", 500, "-p", 0.01, *OPTIONS[kind])
    daemon.ask("PUT", "/f/x" + KINDS[kind])
    daemon.get(prefix + "/add=k")
    for ask in (
        ("GET", "/remove=k"),
        ("GET", "/count=k"),
        ("POST", "/remove", b"k"),
        ("POST", "/count", b"k"),
        ("POST", "/remove", b""),
        ("POST", "/count", b""),
    ):
        got = daemon.ask(ask[0], prefix + ask[1], *ask[2:])
        assert got.status == 409, ask
        assert "counting" in got.headers["x-error"]
    assert daemon.get(prefix + "/contain=k").body == b"true"
    for path in ("/remove", "/count", "/remove/", "/counts=k"):
        assert daemon.get(prefix + path).status == 400


def test_a_window_forgets(start):
    daemon = start()
    assert daemon.ask("PUT", "/f/x?n=100&p=0.01&window=0.5").status == 201
    daemon.get("/f/x/add=k")
    assert daemon.stats("x")["window"] == 0.5
    end = time.monotonic() + PATIENCE
    while daemon.get("/f/x/contain=k").body == b"true":
        assert time.monotonic() < end
        time.sleep(0.05)


WRONG = {
    "n=10&p=0.1&grow=2&window=60": "grow=2 and window=60 must not be given together",
    "n=10&p=0.1&parts=4": "parts is for forgetting filters: give window",
    "n=10&p=0.1&grow=2&parts=4": "parts is for forgetting filters: give window",
    "n=10&p=0.1&counting=1&window=9": "a counting filter cannot forget: window must not be given",
    "m=1000&k=3&grow=2": "grow needs n and p, or m and n: sizes follow from the rate to keep",
    "n=+5&p=0.1": "n must be ",
    "n=10&p=+0.1": "p must be ",
    "n=10&p=0.1&grow=+2": "grow must be a factor from 1 to 1024, got +2",
    "n=10&p=0.1&grow=0.5": "grow must be a factor from 1 to 1024, got 0.5",
    "n=10&p=0.1&grow=1025": "grow must be a factor from 1 to 1024, got 1025",
    "n=10&p=0.1&grow=0": "grow must be a factor from 1 to 1024, got 0",
    "n=10&p=0.1&grow=x": "grow must be a factor from 1 to 1024, got x",
    "n=10&p=0.1&grow=": "grow must be a factor from 1 to 1024, got ",
    "n=10&p=0.1&window=0": "window must be a number of seconds above 0",
    "n=10&p=0.1&window=-1": "window must be a number of seconds above 0",
    "n=10&p=0.1&window=1e-9": "window must be a number of seconds above 0",
    "n=10&p=0.1&window=9&parts=0": "parts must be 1 to 255, got 0",
    "n=10&p=0.1&window=9&parts=256": "parts must be 1 to 255, got 256",
    "n=10&p=0.1&window=9&parts=1.5": "parts must be 1 to 255, got 1.5",
    "n=10&p=0.1&overfull=": "overfull must be warn, raise or ignore, got ",
    "n=10&p=0.1&overfull=Raise": "overfull must be warn, raise or ignore, got Raise",
    "n=10&p=0.1&overfull=raiseraiseraiseraise": "overfull must be warn, raise or ignore, got raise",
    "n=10&p=0.1&overfull=warn&overfull=raise": "overfull must be given once",
    "n=10&p=0.1&counting=2": "counting must be 1 or 0, got 2",
    "n=10&p=0.1&counting=1&counting=1": "counting must be given once",
    "n=10&p=0.1&grow=2&grow=2": "grow must be given once",
    "n=10&p=0.1&clock=1": "a parameter is m, n, k, p, scheme, grow, window, shards, parts, overfull, counting and its value",
}


@pytest.mark.parametrize("query", WRONG)
def test_hostile_parameters(daemon, query):
    got = daemon.ask("PUT", "/f/x?" + query)
    assert (got.status, got.body) == (400, b"Error Command")
    assert got.headers["x-error"].startswith(WRONG[query])
    assert daemon.get("/f/x").status == 404


def test_limits_hold_for_all_of_them(start):
    daemon = start("-n", 1000, "-p", 0.01, "--max-filter", "1M", "--max-total", "3M")
    for kind in ("grow=2", "window=60", "counting=1"):
        assert daemon.ask("PUT", f"/f/x?n=10000000&p=0.01&{kind}").status == 507, kind
    # four bits per position: what a plain filter of this size fits in, counters do not
    assert daemon.ask("PUT", "/f/plain?m=4000000&n=300000").status == 201
    assert daemon.ask("PUT", "/f/x?m=4000000&n=300000&counting=1").status == 507


def test_the_token_is_asked_for(start):
    daemon = start("-n", 1000, "-p", 0.01, "--counting", "--token", "t")
    for path in ("/remove=k", "/count=k"):
        assert daemon.get(path).status == 401
        assert daemon.get(path, Authorization="Bearer t").status == 200


NAMES = ("a:b", "{tag}:x", "me@host", "x:meta", "x:0", "-._", "a" * 128)


@pytest.mark.parametrize("name", NAMES)
def test_names(start, args, name):
    daemon = start(*args)
    assert daemon.ask("PUT", f"/f/{name}" + KINDS["fixed"]).status == 201
    encoded = "".join(f"%{ord(c):02x}" for c in name)
    assert daemon.get(f"/f/{encoded}/add=k").body == b"ok"
    assert daemon.post(f"/f/{encoded}/contain", b"k").body == b"1"
    assert daemon.get(f"/f/{name}/stats").status == 200
    assert name in json.loads(daemon.get("/f").body)
    daemon.stop()
    if args:
        daemon = start(*args)
        assert daemon.get(f"/f/{name}/contain=k").body == b"true"
        assert daemon.ask("DELETE", f"/f/{encoded}").status == 200


@pytest.mark.parametrize(
    "name", ["a" * 129, ".a", "%2ea", "a%2fb", "a%", "a%00", "a,b", "a%20b", ""]
)
def test_what_is_no_name(daemon, name):
    for method, query in (("PUT", KINDS["fixed"]), ("GET", ""), ("DELETE", "")):
        got = daemon.ask(method, f"/f/{name}" + query)
        assert (got.status, got.body) == (400, b"Error Command")
        shown = name[:40] + ".." if len(name) > 40 else name or "none"
        assert got.headers["x-error"].endswith("not a point; got " + shown)


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
    url = f"redis://127.0.0.1:{redis[0]}/0?key=app"
    one = start("-n", 500, "-p", 0.01, *OPTIONS[kind], "--storage", url)
    assert one.stats()["kind"] == kind
    for name in ("x", "x:meta", "{x}@y"):
        assert one.ask("PUT", f"/f/{name}{KINDS[kind]}").status == 201
        one.post(f"/f/{name}/add", b"\n".join(b"%d" % i for i in range(1500)))
    other = start("--storage", url)
    assert other.stats()["kind"] == kind
    for name in ("x", "x:meta", "{x}@y"):
        assert other.post(f"/f/{name}/contain", b"0\n1499").body == b"11"
        assert other.stats(name)["kind"] == kind
        assert other.ask("PUT", f"/f/{name}{KINDS[kind]}").status == 200
    if kind == "counting":
        assert one.get("/f/x/remove=7").headers["x-removed"] == "1"
        assert other.get("/f/x/count=7").body in (b"0", b"1")
    if kind != "window":
        assert "1499" in OPENED.get(kind, BloomFilter).open(url + ":f:x")
        assert "1499" in OPENED.get(kind, BloomFilter).open(url + ":f:x%253Ameta")


LOST = {
    "grow": [b"DEL app:f:x", b"FLUSHALL"],
    "counting": [b"DEL app:f:x", b"FLUSHALL"],
    "window": [b"DEL app:f:x", b"FLUSHALL"],
    "fixed": [b"DEL app:f:x", b"FLUSHALL"],
}


@needs_redis
@pytest.mark.parametrize("again", [None, "grow", "fixed", "counting"])
@pytest.mark.parametrize(("kind", "lost"), [(kind, one) for kind in LOST for one in LOST[kind]])
def test_what_redis_lost_is_made_again_by_put(start, redis, kind, lost, again):
    """With the same parameters or others, as what it was or another kind."""
    port, _ = redis
    daemon = start("-n", 500, "-p", 0.01, "--storage", redis_url(port))
    assert daemon.ask("PUT", "/f/x" + KINDS[kind]).status == 201
    daemon.post("/f/x/add", b"\n".join(b"%d" % i for i in range(1500)))
    command(port, lost)
    query = KINDS[again or kind]
    assert daemon.ask("PUT", "/f/x" + query).status == 201
    assert daemon.stats("x")["kind"] == (again or kind)
    assert daemon.get("/f/x/add=k").headers["x-new"] == "1"
    assert daemon.post("/f/x/contain", b"k").body == b"1"
    assert daemon.ask("PUT", "/f/x" + query).status == 200
    assert daemon.ask("DELETE", "/f/x").status == 200
    until(404, lambda: daemon.get("/f/x/contain=k"))


@needs_redis
@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize(("kind", "lost"), [(kind, one) for kind in LOST for one in LOST[kind]])
def test_what_redis_lost_is_deleted(start, redis, kind, lost, asked):
    port, _ = redis
    daemon = start("-n", 500, "-p", 0.01, "--storage", redis_url(port))
    assert daemon.ask("PUT", "/f/x" + KINDS[kind]).status == 201
    daemon.post("/f/x/add", b"\n".join(b"%d" % i for i in range(1500)))
    command(port, lost)
    if asked:
        got = daemon.get("/f/x/contain=a")  # K:meta alone is not asked for by each call
        assert got.status == 503 or lost.endswith(b":meta")
    assert daemon.ask("DELETE", "/f/x").status == 200
    until(404, lambda: daemon.get("/f/x/contain=a"))
