"""Growing, forgetting and counting filters, served: named and default, in memory, files and Redis,
through restarts and kill -9, over HTTP and RESP."""

import itertools
import json
import re
import threading
import time

import pytest
from bloomfilter import BloomFilter, CountingBloomFilter
from daemons import (
    FRAMED,
    PATIENCE,
    asks,
    ended,
    framed,
    lines_of,
    needs_redis,
    redis_command,
    redis_url,
    until,
    until_status,
)
from protocols import PROTOCOLS, Http

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


@pytest.mark.parametrize(
    ("kind", "protocol", "size"),
    [*((kind, "http", 50) for kind in KINDS), ("fixed", "http", 1), ("grow", "resp", 100)],
)
def test_kill_9_loses_no_acknowledged_key(start, tmp_path, kind, protocol, size):
    """Adders on several connections, the daemon killed in the middle: what was answered is there,
    also after an orderly end."""
    args = ["--storage", f"{tmp_path}/filters/", "--create", "--threads", 2]
    daemon = start(*args)
    assert PROTOCOLS[protocol](daemon).make("x", kind, 500 if kind == "grow" else 100_000)
    acknowledged, enough = [[] for _ in range(4)], threading.Event()

    def add(number, client, mine):
        try:
            for i in range(100_000):
                keys = [b"%d of %d of %d" % (k, i, number) for k in range(size)]
                client.add("x", keys)
                mine.extend(keys)
                if i == 40:
                    enough.set()
        except (EOFError, OSError):
            pass

    adders = [
        threading.Thread(target=add, args=(number, PROTOCOLS[protocol](daemon), mine))
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
        assert set(PROTOCOLS[protocol](daemon).has("x", keys)) == {1}
        daemon.stop()


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", ["default", "x"])
def test_removing_and_counting(start, protocol, name):
    daemon = start("-n", 1000, "-p", 0.0001, "--counting")
    client = PROTOCOLS[protocol](daemon)
    assert name == "default" or client.make(name, "counting", p=0.0001)
    assert [client.add(name, [b"a"]) for _ in range(3)] == [[1], [0], [0]]
    client.add(name, [b"b&/"])
    assert [client.count(name, key) for key in (b"a", b"b&/", b"c")] == [3, 1, 0]
    assert client.remove(name, [b"a"]) == [1] and client.remove(name, [b"c"]) == [0]
    assert client.count(name, b"a") == 2
    assert client.remove(name, [b"a", b"b&/", b"c", b"a", b"a"]) == [1, 1, 0, 1, 0]
    assert client.has(name, [b"a", b"b&/", b"c"]) == [0, 0, 0]
    client.add(name, [b"much"] * 20)
    assert client.count(name, b"much") == 15
    assert daemon.stats(name)["removed"] == 4
    many = [b"%d" % i for i in range(300)]
    client.add(name, many)
    assert client.remove(name, many) == [1] * 300


def test_counts_of_a_batch_are_bytes(start):
    daemon = start("-n", 1000, "-p", 0.0001, "--counting")
    daemon.post("/add", b"a\na\nb\n" + b"much\n" * 20)
    assert daemon.post("/count", b"a\nb\nc\nmuch").body == bytes([2, 1, 0, 15])
    assert daemon.post("/count", framed([b"a", b""]), **FRAMED).body == bytes([2, 0])
    assert daemon.post("/remove", b"").body == b""


@pytest.mark.parametrize("kind", ["fixed", "grow", "window"])
@pytest.mark.parametrize("prefix", ["", "/f/x"])
def test_what_is_not_counting_can_neither_remove_nor_count(start, kind, prefix):
    daemon = start("-n", 500, "-p", 0.01, *OPTIONS[kind])
    daemon.ask("PUT", "/f/x" + KINDS[kind])
    daemon.get(prefix + "/add=k")
    for method, target, body in asks("GET /remove=k, GET /count=k, POST /remove k, POST /count k"):
        got = daemon.ask(method, prefix + target, body)
        assert got.status == 409, target
        assert "counting" in got.headers["x-error"]
    assert daemon.get(prefix + "/contain=k").body == b"true"


def test_a_window_forgets(start):
    daemon = start()
    assert daemon.ask("PUT", "/f/x?n=100&p=0.01&window=0.5").status == 201
    daemon.get("/f/x/add=k")
    assert daemon.stats("x")["window"] == 0.5
    until(lambda: daemon.get("/f/x/contain=k").body == b"false")


@pytest.mark.parametrize("ahead", [1000.0, 3e9])
def test_a_merge_from_the_future_forgets_nothing(start, tmp_path, ahead):
    """What one machine's clock says does not count for the others."""
    daemon, shape = start("--storage", f"{tmp_path}/"), {"n": 1000, "p": 0.01, "window": 3600.0}
    with BloomFilter(storage=tmp_path / "w.bloom", **shape) as shared:
        shared.update(range(500))
        future = BloomFilter(clock=lambda: time.time() + ahead, **shape)
        future.add("theirs")
        assert daemon.get("/f/w/contain=1").body == b"true"
        assert daemon.post("/f/w/merge", future.to_bytes()).status == 200
        assert all(shared.contains_many(range(500))) and "theirs" in shared
        assert daemon.post("/f/w/contain", lines_of(range(500))).body == b"1" * 500


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
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("kind", KINDS)
def test_in_redis(start, redis, kind, protocol):
    url = f"redis://127.0.0.1:{redis[0]}/0?key=app"
    one = start("-n", 500, "-p", 0.01, *OPTIONS[kind], "--storage", url)
    assert one.stats()["kind"] == kind
    client, names, many = PROTOCOLS[protocol](one), ("x", "x:meta", "{x}@y"), 1500
    if protocol == "resp" and kind in ("fixed", "counting"):
        many = 300  # it would refuse more
    for name in names:
        assert client.make(name, kind)
        assert sum(client.add(name, [b"%d" % i for i in range(many)])) > 0.9 * many
    other = start("--storage", url)
    assert other.stats()["kind"] == kind
    for name in names:
        assert PROTOCOLS[protocol](other).has(name, [b"0", b"%d" % (many - 1)]) == [1, 1]
        shown = other.stats(name)
        assert shown["kind"] == kind and (kind != "grow" or shown["parts"] > 1)
        assert not Http(other).make(name, kind)
    if kind == "counting":
        assert client.remove("x", [b"7"]) == [1]
        assert PROTOCOLS[protocol](other).count("x", b"7") in (0, 1)
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
        assert not noticed or one.get("/f/x/contain=1").status == 503
        if again:
            assert one.ask("PUT", "/f/x" + KINDS[again]).status == 201
            assert one.stats("x")["kind"] == again
            assert one.get("/f/x/add=k").headers["x-new"] == "1"
            assert one.post("/f/x/contain", b"k\n1").body == b"10"
            assert one.ask("PUT", "/f/x" + KINDS[again]).status == 200
            assert until_status(200, lambda: other.get("/f/x/contain=k")).body == b"true"
        assert one.ask("DELETE", "/f/x").status == 200
        for daemon in (one, other):
            until_status(404, lambda daemon=daemon: daemon.get("/f/x/contain=1"))
        assert redis_command(port, "EXISTS app:f:x app:f:x:meta") == b":0\r\n"
