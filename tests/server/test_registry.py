"""The filters that bloomfilterd serves, while other daemons, files and a Redis that hangs get in
the way."""

import contextlib
import os
import signal
import socket
import subprocess
import threading
import time

import pytest
import servers
from bloomfilter import BloomFilter, Error
from daemons import (
    PATIENCE,
    asks,
    lines_of,
    needs_redis,
    redis_command,
    redis_url,
    until_status,
)
from threads import in_background, in_threads

PUT = "?n=1000&p=0.01"


@pytest.fixture
def two(start, tmp_path):
    folder = f"{tmp_path}/filters/"
    return (
        start("--storage", folder, "--create", "--threads", 2),
        start("--storage", folder),
        folder,
    )


# ---- other daemons and processes ----
def test_another_daemon_deletes_and_makes_it_again(two):
    one, other, _ = two
    for _ in range(3):
        assert one.ask("PUT", "/f/x" + PUT).status == 201
        assert other.get("/f/x/add=1").headers["x-new"] == "1"
        assert one.get("/f/x/contain=1").body == b"true"
        assert one.ask("DELETE", "/f/x").status == 200
        assert other.get("/f/x/contain=1").status == 404
        assert other.post("/f/x/add", b"2").status == 404
    one.ask("PUT", "/f/x" + PUT)
    other.get("/f/x/add=old")
    one.ask("DELETE", "/f/x")
    one.ask("PUT", "/f/x" + PUT)
    assert other.get("/f/x/contain=old").body == b"false"
    assert other.get("/f/x/add=new").headers["x-new"] == "1"
    assert other.post("/f/x/add", b"more").body == b"1"
    assert one.post("/f/x/contain", b"new\nmore\nold").body == b"110"


def test_another_daemon_makes_it_again_with_other_sizes(two):
    one, other, _ = two
    one.ask("PUT", "/f/x" + PUT)
    other.get("/f/x/add=1")
    one.ask("DELETE", "/f/x")
    assert other.ask("PUT", "/f/x?m=4096&n=300").status == 201
    assert one.stats("x")["m"] == 4096
    assert one.ask("PUT", "/f/x" + PUT).status == 409


def test_one_of_two_daemons_made_it(two):
    """201 tells a program that it has to fill the filter: one of them."""
    for i in range(100):
        clients, replies = [d.client() for d in two[:2]], []
        puts = (lambda c=c: replies.append(c.ask("PUT", f"/f/{i}{PUT}").status) for c in clients)
        in_threads(*puts, seconds=PATIENCE)
        assert sorted(replies) == [200, 201]


def report_of(daemon, name):
    """(bloomfilter_up, status of a test, the name is in the alarm of the page)"""
    up = f'bloomfilter_up{{filter="{name}"}} 1\n'.encode() in daemon.get("/metrics").body
    page = daemon.get("/")
    assert page.status in (200, 503)
    alarm = page.body.partition(b'id="alarm"')[2].partition(b"</p>")[0]
    shown = f'href="#f-{name}"'.encode() in alarm or page.status == 503
    return up, daemon.get(f"/f/{name}/contain=k").status, shown


@pytest.mark.parametrize("name", ["default", "x"])
@pytest.mark.parametrize("how", ["replaced", "overwritten"])
def test_what_stands_in_the_place_of_a_file(start, tmp_path, name, how):
    """A filter is up if it answers requests.  What is no filter is left as it is, and errors name
    the filter, not its folder; a filter is served, whatever its sizes."""
    folder = tmp_path / ("served " * 20)
    daemon = start("--storage", f"{folder}/", "--create")
    daemon.ask("PUT", "/f/x" + PUT)
    path, aside = folder / f"{name}.bloom", folder / ".aside"
    verbs = "GET /f/{0}/contain=a, POST /f/{0}/add a, GET /f/{0}/stats, GET /f/{0}"
    verbs_of_new = f", PUT /f/new{PUT}, DELETE /f/new, {verbs.format('new')}"
    contents = (None, b"", b"no filter at all") if how == "replaced" else ()
    for i, content in enumerate([b"j" * path.stat().st_size, *contents]):
        assert report_of(daemon, name) == (True, 200, False)
        if how == "overwritten":
            path.write_bytes(content)
            while report_of(daemon, name) != (False, 503, True):
                pass  # the state in a report is up to a second old
        else:
            path.unlink()
            path.mkdir() if content is None else path.write_bytes(content)
            assert report_of(daemon, name) == (False, 503, True)
            (folder / "new.bloom").write_bytes(content or b"")
        assert daemon.get("/healthz").status == (503 if name == "default" else 200)
        for ask in asks(verbs.format(name) + verbs_of_new * bool(contents)):
            got = daemon.ask(*ask)
            assert got.status == 503, (content, ask, got)
            why = got.headers["x-error"]
            assert f'the filter "{"new" if "/new" in ask[1] else name}"' in why
            assert "served" not in why
        assert not contents or (folder / "new.bloom").read_bytes() == (content or b"")
        path.rmdir() if content is None else path.unlink()
        BloomFilter(n=2000 + i, p=0.01).save(aside)
        aside.rename(path)
        # without a request for the filter in between
        assert report_of(daemon, name) == (True, 200, False)
        assert daemon.get("/healthz").status == 200
    new = BloomFilter(n=5000, p=0.001)
    new.add("there")
    new.save(path)
    assert daemon.post(f"/f/{name}/contain", b"there\nk").body == b"10"
    assert daemon.get(f"/f/{name}/add=after").headers["x-new"] == "1"
    assert daemon.stats(name)["n"] == 5000 and "after" in BloomFilter.open(path)


def test_the_file_of_the_default_filter(start, tmp_path):
    """No add is acknowledged without a file; what is put back is served, unless it is not what was
    asked for."""
    path, aside = tmp_path / "seen.bloom", tmp_path / "aside"
    daemon = start("--storage", path, "-n", 1000, "-p", 0.01)
    daemon.get("/add=1")
    path.rename(aside)
    for ask in asks(
        "GET /add=once, GET /add=2, GET /contain=1, POST /add 2, GET /stats, GET /healthz"
    ):
        got = daemon.ask(*ask)
        assert got.status == 503, ask
        assert "default" in got.headers["x-error"]
    assert b"default" in daemon.get("/f").body
    BloomFilter(n=2000, p=0.01).save(str(path))
    got = daemon.get("/add=2")
    assert got.status == 503
    assert "n=2000" in got.headers["x-error"] and "n=1000" in got.headers["x-error"]
    aside.rename(path)
    assert daemon.post("/contain", b"1\n2").body == b"10"
    path.unlink()
    assert daemon.ask("PUT", "/f/default" + PUT).status == 201
    assert daemon.get("/add=3").headers["x-new"] == "1"
    assert "3" in BloomFilter.open(str(path))


@pytest.mark.parametrize("options", [[], ["--exclusive"]], ids=["shared", "exclusive"])
@pytest.mark.parametrize("name", ["x", "default"])
def test_a_file_is_moved_away_and_back(start, tmp_path, name, options):
    daemon = start("-n", 1000, "-p", 0.01, "--storage", f"{tmp_path}/", *options)
    assert name == "default" or daemon.ask("PUT", "/f/x?n=1000&p=0.01").status == 201
    assert daemon.get(f"/f/{name}/add=before").status == 200
    for ask in ("/flush", f"/f/{name}/add"):
        os.rename(tmp_path / f"{name}.bloom", tmp_path / "moved")
        daemon.post(ask, b"")
        os.rename(tmp_path / "moved", tmp_path / f"{name}.bloom")
        for i in range(3):
            assert daemon.post("/flush", b"").body == b"ok"
            assert daemon.get(f"/f/{name}/add={ask[1:]}{i}").headers["x-new"] == "1"
            assert daemon.post(f"/f/{name}/add", ask.encode() + b"%d" % i).body == b"1"
    assert daemon.get(f"/f/{name}/contain=before").body == b"true"
    daemon.stop()
    assert daemon.process.returncode == 0


@pytest.mark.parametrize("again", [True, False])
def test_a_file_that_is_replaced_in_the_middle_of_a_batch(start, tmp_path, again):
    """The daemon is stopped when some of the keys are in: all of them must be in what is there
    afterwards, or the reply an error."""
    folder = tmp_path / "filters"
    folder.mkdir()
    path = folder / "x.bloom"
    daemon = start("--storage", f"{folder}/", "--max-total", "16G")
    keys = lines_of(range(1_000_000))
    for _ in range(20):
        path.unlink(missing_ok=True)
        new = BloomFilter(n=1_000_000, p=0.01)
        new.save(f"{folder}/.new")
        new.save(str(path))
        old = BloomFilter.open(str(path))
        assert daemon.get("/f/x/contain=1").body == b"false"
        reply = in_background(daemon.post, "/f/x/add", keys)
        while "0" not in old and not reply.done():
            time.sleep(0)
        os.kill(daemon.process.pid, signal.SIGSTOP)
        half = old.fill_ratio < 0.4 and not reply.done()
        if again:
            os.replace(f"{folder}/.new", path)
        else:
            path.unlink()
        os.kill(daemon.process.pid, signal.SIGCONT)
        status = reply.result(PATIENCE).status
        if half:
            break
    assert half, "never caught in the middle"
    assert status == (200 if again else 404)
    if again:
        assert set(daemon.post("/f/x/contain", keys).body) == {ord("1")}
        assert BloomFilter.open(str(path)).contains_many([b"0", b"500000", b"999999"]) == b"\1\1\1"


def test_others_add_while_a_large_image_is_merged_and_downloaded(start):
    daemon = start("--threads", 2)
    daemon.ask("PUT", "/f/large?m=32000000&n=1000000")
    image = daemon.get("/f/large").body
    stop, keys = threading.Event(), [b"k%d" % i for i in range(300)]

    def work(*ask):
        while not stop.is_set():
            assert daemon.ask(*ask).status == 200, ask[:2]

    asks = ("POST", "/f/large/merge", image), ("GET", "/f/large")
    others = [in_background(work, *ask) for ask in asks]
    for key in keys:
        assert daemon.get(b"/f/large/add=" + key).body == b"ok"
    stop.set()
    for other in others:
        other.result(PATIENCE)
    assert daemon.post("/f/large/contain", lines_of(keys)).body == b"1" * 300
    large = BloomFilter.from_bytes(daemon.get("/f/large").body)
    assert large.contains_many(keys) == b"\1" * 300


@pytest.mark.parametrize("verb", ["add", "contain"])
def test_a_long_batch_stops_nobody_else(start, verb):
    """40,000 keys of 4,096 positions each take a while."""
    daemon = start()
    daemon.ask("PUT", "/f/slow?m=1000000&n=100&k=4096")
    daemon.get("/f/slow/add=")
    slow = daemon.client()
    head = f"POST /f/slow/{verb} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 40000\r\n\r\n"
    slow.send(head.encode() + b"\n" * 40_000)
    assert daemon.get("/f/slow/contain=").body == b"true"
    assert daemon.get("/healthz").status == 200
    slow.socket.setblocking(False)
    with pytest.raises(BlockingIOError):
        slow.socket.recv(1)
    slow.socket.settimeout(PATIENCE)
    assert slow.reply().body == (b"0" if verb == "add" else b"1") * 40_000


def test_replies_keep_their_order(daemon):
    """Some of them come from other threads."""
    client = daemon.client()
    asked = [b"GET /contain=a", b"GET /stats", b"GET /add=a", b"PUT /f/x?n=10&p=0.1", b"GET /f/x/add=b", b"GET /metrics", b"GET /f/x", b"GET /f/x/contain=b",
             b"DELETE /f/x", b"GET /f/x/contain=b", b"GET /contain=a"]  # fmt: skip
    client.send(b"".join(one + b" HTTP/1.1\r\n\r\n" for one in asked) * 20)
    for _ in range(20):
        replies = [client.reply() for _ in asked]
        assert [reply.status for reply in replies] == [200] * 3 + [201] + [200] * 5 + [404, 200]
        assert replies[7].body == replies[10].body == b"true"
    client.send(b"GET /stats HTTP/1.1\r\nConnection: close\r\n\r\nGET /stats HTTP/1.1\r\n\r\n")
    assert client.reply().status == 200
    assert client.end() == b""


# ---- how much all of them take ----
def sizes(reply):
    return [
        int(word) for word in reply.headers["x-error"].replace(",", "").split() if word.isdigit()
    ]


FOLDERS = pytest.mark.parametrize("stored", [False, True])


def limited(tmp_path, limit, stored):
    args = ["-n", 1000, "-p", 0.01, "--max-total", limit]
    return [*args, *["--storage", f"{tmp_path}/filters/", "--create"] * stored]


@FOLDERS
def test_all_filters_together(start, tmp_path, stored):
    args = limited(tmp_path, "1M", stored)
    daemon = start(*args)
    large = "?m=3200000&n=100000"  # 400,000 bytes
    assert daemon.ask("PUT", "/f/a" + large).status == 201
    assert daemon.ask("PUT", "/f/b" + large).status == 201
    got = daemon.ask("PUT", "/f/c" + large)
    assert got.status == 507
    assert "--max-total" in got.headers["x-error"]
    assert 1 << 20 in sizes(got) and any(400_000 <= size < 410_000 for size in sizes(got))
    assert daemon.get("/f/c").status == 404
    assert daemon.ask("PUT", "/f/a" + large).status == 200
    if stored:
        daemon.stop()
        daemon = start(*args)
    assert daemon.ask("PUT", "/f/c" + large).status == 507
    assert daemon.post("/f/a/merge", daemon.get("/f/b").body).status == 200
    assert daemon.ask("DELETE", "/f/a").status == 200
    assert daemon.ask("PUT", "/f/c" + large).status == 201


def test_files_of_others_count(two):
    daemon, _, folder = two
    daemon.get("/f")
    with open(f"{folder}other.bloom", "wb") as file:
        file.truncate(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE") // 4)
    assert daemon.ask("PUT", "/f/x" + PUT).status == 507
    os.unlink(f"{folder}other.bloom")
    assert daemon.ask("PUT", "/f/x" + PUT).status == 201


@FOLDERS
def test_two_puts_at_once_never_pass_it(start, tmp_path, stored):
    daemon = start("--threads", 2, *limited(tmp_path, "40M", stored))
    replies = []
    in_threads(
        *(
            lambda i=i: replies.append(daemon.ask("PUT", f"/f/{i}?m=80000000&n=100000").status)
            for i in range(16)
        ),
        seconds=PATIENCE,
    )
    assert sorted(replies) == [201] * 4 + [507] * 12


def test_growing_filters_keep_within_it(start, tmp_path):
    folder = tmp_path / "filters"
    folder.mkdir()
    BloomFilter(n=10_000, p=0.01, grow=2.0, storage=f"{folder}/x.bloom").close()
    daemon = start("-n", 1000, "-p", 0.01, "--max-total", "200K", "--storage", f"{folder}/")
    added = 0
    while (got := daemon.post("/f/x/add", lines_of(range(added, added + 1000)))).status == 200:
        added += 1000
        assert added < 1_000_000
    assert got.status == 507
    assert 200 << 10 in sizes(got)
    assert added >= 20_000
    assert sum(file.stat().st_size for file in folder.iterdir()) <= 200 << 10
    assert daemon.post("/f/x/contain", lines_of(range(added))).body == b"1" * added
    while (got := daemon.get(f"/f/x/add=one{added}")).status == 200:
        added += 1
    assert got.status == 507


@pytest.mark.parametrize(
    "limit, query, keys, status",
    [
        ("300K", "n=30&p=0.01&grow=16&counting=1", 100, 507),  # four bits per position
        ("2M", "n=30&p=0.01&grow=16&counting=1", 100, 200),
        ("200M", "n=200000&p=0.01&grow=1024", 300_000, 200),  # a part is at most 16 times as large
        ("3M", "n=200000&p=0.01&grow=1024", 300_000, 507),
    ],
)
@FOLDERS
def test_the_next_part_has_the_size_that_it_will_have(
    start, tmp_path, limit, query, keys, status, stored
):
    daemon = start(*limited(tmp_path, limit, stored))
    assert daemon.ask("PUT", "/f/x?" + query).status == 201
    step = keys // 3
    for begin in range(0, keys, step):
        got = daemon.post("/f/x/add", lines_of(range(begin, begin + step)))
        if got.status != 200:
            break
    assert got.status == status


# ---- Redis ----
@contextlib.contextmanager
def stopped(process):
    process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        process.send_signal(signal.SIGCONT)


@needs_redis
@pytest.mark.parametrize("instead", ["SET app:f:x abc", "RPUSH app:f:x a", "HSET app:f:x a b"])
def test_what_is_no_filter_in_redis_is_not_the_requests_fault(start, redis, instead):
    port, _ = redis
    daemon = start("--storage", redis_url(port))
    redis_command(port, instead)
    for ask in asks(
        f"GET /f/x/contain=k, GET /f/x/add=k, PUT /f/x{PUT}, POST /f/x/add k, GET /f/x/stats"
    ):
        got = daemon.ask(*ask)
        assert got.status == 503 and "app:f:x" in got.headers["x-error"], (ask, got)
    assert daemon.ask("PUT", "/f/y?n=100&p=0.01").status == 201
    redis_command(port, "DEL app:f:y")
    redis_command(port, instead.replace(":x", ":y"))  # under a filter that is open
    for ask in asks(f"POST /f/y/add k, GET /f/y/contain=k, PUT /f/y{PUT}, GET /f/y"):
        assert daemon.ask(*ask).status == 503, ask
    assert daemon.post("/f/x/merge", b"no filter").status in (400, 503)
    assert daemon.post("/merge", b"x").status == 400


@needs_redis
def test_made_again_in_redis_with_other_sizes(start, redis):
    """Whoever asks gets a 503, not 409: nothing that they asked for is in conflict."""
    port, _ = redis
    one, other = (start("-n", 1000, "-p", 0.01, "--storage", redis_url(port)) for _ in range(2))
    for ask in asks("GET /f/x/contain=a, GET /f/x/add=a, POST /f/x/add a"):
        assert one.ask("PUT", "/f/x" + PUT).status == 201
        assert one.get("/f/x/add=b").status == 200
        assert other.ask("DELETE", "/f/x").status == 200
        assert other.ask("PUT", "/f/x?n=3000&p=0.001").status == 201
        got = one.ask(*ask)
        assert got.status in (200, 503), got  # 200: it was looked up again before
        assert one.ask(*ask).status == 200
        assert one.ask("PUT", "/f/x" + PUT).status == 409
        assert other.ask("DELETE", "/f/x").status == 200
        assert other.ask("PUT", "/f/x?n=3000&p=0.001").status == 201
        assert one.ask("DELETE", "/f/x").status == 200  # of one that it has not looked up again
        assert redis_command(port, "EXISTS app:f:x app:f:x:meta") == b":0\r\n"


@needs_redis
def test_the_default_filter_lost_by_redis(start, redis):
    port, _ = redis
    daemon = start("-n", 1000, "-p", 0.01, "--storage", redis_url(port))
    daemon.get("/add=a")
    redis_command(port, "FLUSHALL")
    for _ in range(3):
        assert daemon.get("/contain=a").status == 503
    assert daemon.ask("PUT", "/f/default" + PUT).status == 201
    assert daemon.get("/add=a").headers["x-new"] == "1"
    assert "a" in BloomFilter.open(redis_url(port))


@needs_redis
def test_a_new_key_in_redis_has_the_sizes_that_help_promises(start, redis):
    port, _ = redis
    stats = start("--storage", redis_url(port)).stats()
    assert (stats["n"], stats["p"], stats["home"]) == (1_000_000, 0.01, "redis")


@needs_redis
@pytest.mark.parametrize("threads", [1, 3])
def test_redis_hangs(start, redis, threads):
    """Whatever was asked first, everybody gets an answer soon: from memory, or 503."""
    port, process = redis
    daemon = start("-n", 1000, "-p", 0.01, "--storage", redis_url(port), "--threads", threads)
    daemon.ask("PUT", "/f/x" + PUT)
    until_status(200, lambda: daemon.get("/f/x/add=k"))
    waiting = []
    with stopped(process):
        for request in (
            *("GET /f/unknown/contain=1", "GET /f/unknown/contain=2", "PUT /f/y" + PUT),
            *("DELETE /f/gone", "GET /f/z"),
        ):
            head = f"{request} HTTP/1.1\r\nContent-Length: 0\r\n\r\n"
            waiting.append(daemon.client().send(head.encode()))
        assert daemon.get("/f").status == 200
        for _ in range(3):
            for path in """/healthz /stats /contain=1 /f/x/contain=k /f/x/add=j /f/other/contain=1
                /f/x/stats /""".split():
                got = daemon.get(path)
                assert got.status == 503, path
                assert "Redis" in got.headers["x-error"]
            assert daemon.post("/f/x/add", b"1\n2").status == 503
            assert b'bloomfilter_up{filter="x"} 0' in daemon.get("/metrics").body
            assert daemon.get("/f").status == 200
        assert [client.reply().status for client in waiting[:2]] == [503, 503]
        waiting[3].close()
    until_status(200, lambda: daemon.get("/healthz"))
    assert until_status(200, lambda: daemon.get("/f/x/contain=k")).body == b"true"
    until_status(404, lambda: daemon.get("/f/unknown/contain=1"))
    assert waiting[2].reply().status == 201  # waited for, because it had begun
    assert waiting[4].reply().status == 404


class DeafToNew(servers.Proxy):
    """Before a Redis.  While `deaf` is set it accepts connections and answers nothing on them; those
    it had before go on."""

    def __init__(self, port):
        self.deaf, self.kept = False, []
        super().__init__(port)

    def serve(self, client):
        self.kept.append(client)
        if not self.deaf:
            super().serve(client)

    def stop(self):
        super().stop()
        for client in self.kept:
            with contextlib.suppress(OSError):  # it has ended
                client.shutdown(socket.SHUT_RDWR)


@needs_redis
@pytest.mark.parametrize("probed", [False, True])
def test_only_new_connections_hang(start, redis, probed):
    """Names that are open are served, however many others wait for a connection; also if the probe
    has a connection that works."""
    port, process = redis
    before = DeafToNew(port)
    url = redis_url(before.port)
    if probed:  # what waits on a connection that it has opens another one only after this time
        url = url.replace("timeout=300", "timeout=10")
    daemon = start("-n", 1000, "-p", 0.01, "--storage", url)
    for name in "xy":
        daemon.ask("PUT", f"/f/{name}" + PUT)
        until_status(200, lambda name=name: daemon.get(f"/f/{name}/add=k"))
    connections = len(before.kept)
    if probed:
        with stopped(process):
            client = daemon.client().send(b"GET /f/x/contain=k HTTP/1.1\r\n\r\n")
            while len(before.kept) == connections:
                pass
        assert client.reply().status in (200, 503)
        until_status(404, lambda: daemon.get("/f/none/contain=1"))
        for path in ("/f/x/contain=k", "/f/y/contain=k", "/contain=k"):
            until_status(200, lambda path=path: daemon.get(path))
    before.deaf = True
    waiting = [
        daemon.client().send(f"GET /f/new{i}/contain=1 HTTP/1.1\r\n\r\n".encode())
        for i in range(40)
    ]
    try:
        paths = 20 * "/f/x/contain=k /f/y/contain=k /contain=k /healthz /f/x/add=j".split()
        for path in paths:
            sent = time.monotonic()
            if daemon.get(path).status != 200:  # only after half a second, where Redis stood still
                assert time.monotonic() - sent > 0.4, path
                until_status(200, lambda path=path: daemon.get(path))
        assert {client.reply().status for client in waiting} == {503}
        assert daemon.get("/f/newer/contain=1").status == 503
        assert until_status(200, lambda: daemon.get("/f/x/contain=k")).body == b"true"
    finally:
        before.stop()


AN_HOUR_LATER = """
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *t)
{
    int rc = (int)syscall(SYS_clock_gettime, clock, t);
    if (rc == 0 && clock == CLOCK_REALTIME) t->tv_sec += 3600;
    return rc;
}
"""


@needs_redis
@pytest.mark.plain_daemon  # the sanitizer's library must be the first
def test_redis_hangs_while_the_clock_is_set_back(start, redis, tmp_path):
    """The daemon has seen an hour that the machine has not: it must not wait for that."""
    source, library = tmp_path / "later.c", tmp_path / "later.so"
    source.write_text(AN_HOUR_LATER)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    port, process = redis
    daemon = start(
        "-n", 1000, "-p", 0.01, "--storage", redis_url(port), env={"LD_PRELOAD": str(library)}
    )
    until_status(200, lambda: daemon.get("/add=a"))
    with stopped(process):
        assert daemon.get("/contain=a").status == 503
    until_status(200, lambda: daemon.get("/healthz"))


@needs_redis
def test_sigterm_while_redis_hangs(start, redis):
    port, process = redis
    daemon = start("-n", 1000, "-p", 0.01, "--storage", redis_url(port))
    with stopped(process):
        client = daemon.client().send(b"PUT /f/y?n=10&p=0.1 HTTP/1.1\r\nContent-Length: 0\r\n\r\n")
        assert daemon.get("/f").status == 200  # by then it has begun
        daemon.process.send_signal(signal.SIGTERM)
        assert daemon.process.wait(PATIENCE) == 0
        client.close()


def test_exclusive(start, tmp_path):
    """Others may read what the daemon has open, and a second writer is refused."""
    server = start("--storage", f"{tmp_path}/", "--exclusive")
    assert server.ask("PUT", "/f/x?n=1000&p=0.000001").status == 201
    assert server.get("/f/x/add=k").headers["x-new"] == "1"
    with BloomFilter.open(tmp_path / "x.bloom") as other:
        assert "k" in other
        with pytest.raises(Error, match="exclusive writer"):
            other.add("from outside")
    assert server.get("/f/x/add=l").headers["x-new"] == "1"
