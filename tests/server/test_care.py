"""What an operator does with filters over HTTP: clear, expire, adopt, flush, upload.  The other
system of a foreign bitmap is played by plain SETBIT and GETBIT at the scheme's positions."""

import fcntl
import json
import os

import pytest
import redis as redis_py
from bloomfilter import BloomFilter, CountingBloomFilter
from daemons import ended, lines_of, needs_redis, redis_url, until_status
from products import VERSION
from redis_clients import OtherSystem

GOZERO, GOZERO_M = "gozero", 20480


def path(name, rest):
    return (f"/f/{name}" if name else "") + rest


# ---- clear ----
@pytest.mark.parametrize("kind", ["", "&counting=1", "&grow=2", "&window=60"])
def test_clear(start, home, kind):
    daemon = start("-n", 1000, "-p", 0.01, *home[1])
    assert daemon.ask("PUT", f"/f/x?n=100&p=0.01{kind}").status == 201
    for name in ("", "x"):
        keys = lines_of(range(300))
        assert daemon.post(path(name, "/add"), keys).status == 200
        got = daemon.post(path(name, "/clear"), b"")
        assert (got.status, got.body) == (200, b"ok")
        assert daemon.post(path(name, "/contain"), keys).body == b"0" * 300
        assert daemon.stats(name)["count"] == 0
        assert daemon.get(path(name, "/add=again")).headers["x-new"] == "1"
        assert daemon.get(path(name, "/contain=again")).body == b"true"


def test_clear_while_others_add(start):
    """Each add is either before the clear or after it: no key is half there."""
    daemon = start("-n", 10_000, "-p", 0.001, "--threads", 2)
    adder, other = daemon.client(), daemon.client()
    for round_ in range(30):
        keys = b"\n".join(b"%d.%d" % (round_, i) for i in range(5000))
        adder.send(
            b"POST /add HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(keys)
        )
        adder.send(keys)
        assert other.ask("POST", "/clear").status == 200
        assert adder.reply().status == 200
        assert set(daemon.post("/contain", keys).body) in ({48}, {49})


# ---- foreign bitmaps ----
@needs_redis
@pytest.mark.parametrize("colon", [":", "%3A"])
def test_all_names_as_older_code_spells_them(start, redis, colon):
    port, _ = redis
    names = ["JS", "PJW", "ELF", "BKDR", "SDBM", "DJB", "DEK", "FNV"]
    older = colon + ",".join(f"{name}Hash" for name in names)  # 75 characters with php-hashes
    stored = "php-hashes:" + ",".join(names)
    redis_py.Redis(port=port).setbit("app:f:eight", 7, 1)
    daemon = start("--storage", redis_url(port))
    for scheme in (f"php-hashes{older}", stored):
        for status in (200, 200):
            reply = daemon.ask("PUT", f"/f/eight?scheme={scheme}&m={1 << 32}")
            shown = json.loads(reply.body)
            assert (reply.status, shown["scheme"], shown["k"]) == (status, stored, 8)
    reply = daemon.ask("PUT", f"/f/eight?scheme=php-hashes{older},XHash&m={1 << 32}")
    assert reply.status == 400 and "got XHash" in reply.headers["x-error"]
    assert daemon.get("/f/eight/contain=x").body == b"false"


@needs_redis
@pytest.mark.parametrize("named", [False, True])
def test_foreign_bitmaps_are_cared_for(start, redis, named):
    """tests/live has the other systems themselves."""
    port, _ = redis
    key, name = ("app:f:theirs", "theirs") if named else ("app", "")
    other = OtherSystem(redis_py.Redis(port=port), key, GOZERO, GOZERO_M)
    old, new, mine, later, last = "old new mine later last".split()
    other.add(old)
    sizes, options = f"scheme={GOZERO}&m={GOZERO_M}", ["--scheme", GOZERO, "-m", GOZERO_M]
    if named:
        daemon = start("--storage", redis_url(port))
        assert daemon.get("/f/theirs/stats").status == 503  # the name alone does not tell m
        assert daemon.ask("PUT", f"/f/theirs?{sizes}").status == 200
    else:
        daemon = start("--storage", redis_url(port), *options)

    def ask(verb, key):
        return daemon.get(path(name, f"/{verb}={key}"))

    # Not adopted: both read and write, nothing is written beside it, and care is a conflict.
    assert [ask("contain", key).body for key in (old, mine)] == [b"true", b"false"]
    assert ask("add", mine).headers["x-new"] == "1" and other.has(mine)
    assert not other.redis.exists(key + ":meta")
    for verb in ("/clear", "/expire?seconds=9"):
        got = daemon.post(path(name, verb), b"")
        assert got.status == 409 and "no :meta" in got.headers["x-error"]

    # Adopted: cleared, expires, opens by its name; the other system goes on.
    if named:
        assert daemon.ask("PUT", f"/f/theirs?{sizes}&adopt=1").status == 200
    else:
        daemon.stop()
        daemon = start("--storage", redis_url(port), *options, "--adopt")
    assert ask("contain", old).body == b"true"
    other.add(new)
    assert ask("contain", new).body == b"true"
    assert daemon.post(path(name, "/clear"), b"").body == b"ok"
    assert not other.has(old) and not other.has(mine)
    other.add(later)
    assert ask("contain", later).body == b"true"
    assert ask("add", last).body == b"ok" and other.has(last)
    for seconds, expected in ((1000, range(900, 1001)), (0, [-1])):
        target = path(name or "default", f"/expire?seconds={seconds}")
        assert daemon.post(target, b"").body == b"ok"
        assert other.redis.ttl(key) in expected and other.redis.ttl(key + ":meta") in expected
    second = start("--storage", redis_url(port))
    assert second.get(path(name, f"/contain={later}")).body == b"true"
    if named:
        assert daemon.ask("DELETE", "/f/theirs").body == b"ok"
        assert not other.redis.exists(key, key + ":meta")


@needs_redis
def test_what_put_of_a_foreign_bitmap_refuses(start, redis):
    port, _ = redis
    raw = redis_py.Redis(port=port)
    raw.set("app:f:x", b"\1" * 13)
    daemon = start("--storage", redis_url(port))
    for query, status, said in [
        ("n=100&p=0.01", 503, "not our filter"),
        ("scheme=gozero&m=20", 409, "holds 13 bytes"),
        ("scheme=gozero&m=20480&k=3", 400, "k"),
        ("scheme=gozero&m=20480&adopt=2", 400, "adopt must be 1 or 0, got 2"),
        ("scheme=gozero&m=20480&adopt=1&adopt=1", 400, "adopt must be given once"),
        ("scheme=nonsense&m=20480&adopt=1", 400, "nonsense"),
    ]:
        got = daemon.ask("PUT", "/f/x?" + query)
        assert (got.status, said in got.headers["x-error"]) == (status, True), (query, got)
    assert raw.get("app:f:x") == b"\1" * 13 and not raw.exists("app:f:x:meta")
    # Nothing is there: a new filter in that layout.
    for name, query in (("y", ""), ("z", "&adopt=1")):
        assert daemon.ask("PUT", f"/f/{name}?scheme=gozero&m=20480{query}").status == 201


def test_adopt_is_for_redis(start, tmp_path):
    daemon = start("--storage", f"{tmp_path}/")
    got = daemon.ask("PUT", "/f/x?scheme=gozero&m=20480&adopt=1")
    assert got.status == 400 and "Redis" in got.headers["x-error"]


@needs_redis
def test_adopt_needs_a_scheme(start, redis):
    """Without one, the foreign bitmap cannot be read, and a new filter is not what was asked for."""
    port, _ = redis
    redis_py.Redis(port=port).setbit("app", 7, 1)
    daemon = start("--storage", redis_url(port, "own"))
    for query in ("adopt=1", "adopt=1&m=20480", "adopt=1&n=100&p=0.01"):
        got = daemon.ask("PUT", f"/f/x?{query}")
        assert got.status == 400 and "scheme must be given" in got.headers["x-error"]
    for key in ("app", "none"):
        url = redis_url(port, key)
        code, said = ended("--storage", url, "--adopt")
        assert code == 1 and "scheme must be given" in said
    assert sorted(redis_py.Redis(port=port).keys()) == [b"app", b"own", b"own:meta"]


@needs_redis
def test_a_foreign_bitmap_is_found_again_after_redis_was_away(start, redis):
    port, _ = redis
    raw = redis_py.Redis(port=port)
    raw.setbit("app:f:x", 7, 1)
    daemon = start("--storage", redis_url(port))
    assert daemon.ask("PUT", "/f/x?scheme=gozero&m=20480").status == 200
    daemon.get("/f/x/add=k")
    raw.client_kill_filter(_type="normal", skipme=True)
    assert until_status(200, lambda: daemon.get("/f/x/contain=k")).body == b"true"


# ---- expire ----
@pytest.mark.parametrize("stored", [True, False])
def test_expire_is_for_redis(start, tmp_path, stored):
    daemon = start("-n", 100, "-p", 0.01, *(["--storage", f"{tmp_path}/"] if stored else []))
    assert daemon.ask("PUT", "/f/x?n=100&p=0.01").status == 201
    got = daemon.post("/f/x/expire?seconds=5", b"")
    assert got.status == 409 and str(tmp_path) not in got.headers["x-error"]
    for query in ("", "?", "?seconds=", "?seconds=-1", "?seconds=x", "?second=1", "?seconds=1&a=2"):
        got = daemon.post("/f/x/expire" + query, b"")
        assert got.status == 400 and "seconds=S" in got.headers["x-error"], query


# ---- flush ----
def test_flush(start, tmp_path):
    for args in ([], ["--storage", f"{tmp_path}/"], ["--storage", f"{tmp_path}/one.bloom"]):
        daemon = start("-n", 1000, "-p", 0.01, *args)
        daemon.ask("PUT", "/f/x?n=100&p=0.01")
        daemon.get("/f/x/add=k")
        got = daemon.post("/flush", b"")
        assert (got.status, got.body) == (200, b"ok")
        assert daemon.get("/flush").status == 400


# ---- upload ----
FORGETS = 7  # index of the forgetting one in images()


def images():
    keys = [str(i) for i in range(70)]
    for kind in (
        BloomFilter(n=1000, p=0.01),
        BloomFilter(1000, 100),
        BloomFilter(n=1000, p=1e-6),
        BloomFilter(m=5000, n=100, k=4),
        BloomFilter(n=1000, p=0.01, shards=3),
        BloomFilter(m=GOZERO_M, scheme=GOZERO),
        CountingBloomFilter(n=100, p=0.01),
        BloomFilter(n=100, p=0.01, window=600),
        BloomFilter(n=50, p=0.01, grow=2.0),
        CountingBloomFilter(n=50, p=0.01, grow=2.0),
    ):
        kind.update(keys)
        yield kind.to_bytes()


def test_an_uploaded_filter_has_exactly_these_bytes(start, tmp_path, home):
    home, args = home
    daemon = start("-n", 1000, "-p", 0.01, *args)
    for i, image in enumerate(images()):
        got = daemon.post(f"/f/i{i}", image)
        assert got.status == 201, (i, got)
        assert b'"scheme"' in got.body
        kind = CountingBloomFilter if i in (6, 9) else BloomFilter
        back = daemon.get(f"/f/i{i}").body
        # in Redis a slice that was never used counts as that of an epoch before
        same = back == image or (home == "redis" and i == FORGETS)
        assert same and kind.from_bytes(back) == kind.from_bytes(image), i
        assert daemon.post(f"/f/i{i}/contain", b"1\n69").body == b"11"
        assert daemon.get(f"/f/i{i}/add=new").headers["x-new"] == "1"
        got = daemon.post(f"/f/i{i}", image)
        assert got.status == 409 and f'"i{i}" exists' in got.headers["x-error"]
        assert daemon.get(f"/f/i{i}/contain=new").body == b"true"
    assert daemon.post("/f/default", image).status == 409
    if home == "file":
        assert {path.suffix for path in (tmp_path / "filters").iterdir()} == {".bloom"}
        again = start(*args)
        assert again.get("/f/i0/contain=new").body == b"true"


def test_what_killed_processes_left_is_removed(start, tmp_path):
    (where := tmp_path / "seen").mkdir()
    for i, name in enumerate(["default.bloom", "x.bloom", "never.there.bloom"]):
        (where / f"{name}.bloomfilter-tmp-0{i}").write_bytes(b"half of a filter")
    (where / "default.bloom.new").write_bytes(b"a user's")
    living = where / "x.bloom.bloomfilter-tmp-1f"
    with open(living, "wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        start("--storage", f"{where}/")
        assert sorted(os.listdir(where)) == sorted(
            ["default.bloom", "default.bloom.new", living.name]
        )


def test_what_an_upload_refuses(start):
    daemon = start("-n", 1000, "-p", 0.01, "--max-filter", "2K", "--max-filters", 1)
    small, large = BloomFilter(n=100, p=0.01).to_bytes(), BloomFilter(n=10_000, p=0.01).to_bytes()
    for image, status in ((b"", 400), (b"hello", 400), (small[:-1], 400), (large, 507)):
        got = daemon.post("/f/x", image)
        assert got.status == status and got.headers["x-error"]
        assert daemon.get("/f/x/stats").status == 404
    keyed = BloomFilter(n=100, p=0.01, secret=b"0123456789abcdef").to_bytes()
    assert daemon.post("/f/x", keyed).status == 409
    roomy = start("-n", 1000, "-p", 0.01, "--max-filters", 1)
    assert roomy.post("/f/x", small).status == 201
    assert roomy.post("/f/y", small).status == 507


# ---- the folder ----
def test_create_makes_the_folder(start, tmp_path):
    folder = f"{tmp_path}/seen/"
    code, said = ended("--storage", folder)
    assert code == 1 and "--create" in said and folder in said and not os.path.exists(folder)
    daemon = start("--storage", folder, "--create")
    daemon.says("filter default: it did not exist, and was created empty")
    daemon.ask("PUT", "/f/x?n=100&p=0.01")
    daemon.stop()
    start("--storage", folder).says("was created empty", 0)
    assert os.path.exists(folder + "x.bloom")


# ---- the log ----
def test_the_log_has_version_storage_and_end(start, tmp_path):
    daemon = start("-n", 100, "-p", 0.01, "--storage", f"{tmp_path}/x.bloom")
    daemon.get("/healthz")
    daemon.stop()
    said = daemon.said()
    assert f"version {VERSION}, storage {tmp_path}/x.bloom" in said
    assert "ended by SIGTERM after 1 requests; its files are on disk" in said


@needs_redis
def test_the_log_has_no_password(start, redis):
    port, _ = redis
    url = f"redis://default:s3same@127.0.0.1:{port}/0?key=app"
    redis_py.Redis(port=port).config_set("requirepass", "s3same")
    daemon = start("-n", 100, "-p", 0.01, "--storage", url)
    assert "s3same" not in daemon.said() and f"127.0.0.1:{port}" in daemon.said()
