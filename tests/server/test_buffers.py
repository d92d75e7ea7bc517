"""--max-buffered bounds all that clients can make the daemon hold, in its own number and in memory,
and who reads is served."""

import socket
import threading
import time

import pytest
from bloomfilter import BloomFilter
from daemons import PATIENCE, SANITIZED, needs_redis, redis_url, statuses, until, until_status

MIB = 1 << 20


def deaf(daemon, data):
    """Sends and never reads.  Small buffers in the kernel: what is not taken is the daemon's."""
    client = daemon.client()
    client.socket.close()
    client.socket = socket.socket()
    client.socket.settimeout(PATIENCE)
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    client.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
    client.socket.connect(("127.0.0.1", daemon.port))
    client.socket.setblocking(False)
    try:
        client.socket.send(data)
    except (BlockingIOError, BrokenPipeError, ConnectionResetError):
        pass
    return client


class Watch(threading.Thread):
    """The highest of memory while something goes on."""

    def __init__(self, daemon):
        super().__init__()
        self.watched, self.highest, self.done = daemon, 0, threading.Event()

    def run(self):
        while not self.done.is_set():
            self.highest = max(self.highest, self.watched.resident())
            time.sleep(0.01)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.join()


def add_filters(daemon):
    """With 200, /metrics and / are large."""
    client = daemon.client()
    for i in range(200):
        assert client.ask("PUT", "/f/" + f"n{i}_".ljust(64, "x") + "?n=10&p=0.1").status == 201


def bounded(start, bound, *args, large=None):
    """A daemon that may hold so much, perhaps with a filter of so many bits."""
    daemon = start("-n", 1000, "-p", 0.01, "--max-buffered", bound, *args)
    if large:
        assert daemon.ask("PUT", f"/f/large?m={large}&n=100000").status == 201
    return daemon


HOST = b" HTTP/1.1\r\nHost: localhost\r\n"
METRICS = b"GET /metrics" + HOST + b"\r\n"
IMAGE = b"GET /f/large" + HOST + b"\r\n"
SMALL = b"GET /contain=k" + HOST + b"\r\n"
BATCH = b"POST /contain" + HOST + b"Content-Length: 400000\r\n\r\n" + b"\n" * 400_000
BODY = b"x" * 300_000
ASKED = {  # threads of the daemon, what each client sends
    "images": (1, IMAGE * 3),
    "answers": (3, BATCH * 3),
    "small replies": (1, SMALL * 20_000),
    "a reply and input behind it": (3, METRICS + SMALL * 1400),
    "a report behind small replies": (1, SMALL * 1300 + METRICS),
    "heads": (
        3,
        b"GET /contain=%s HTTP/1.1\r\nA: %s\r\nAuthorization: %s"
        % (b"x" * 16_000, b"y" * 16_000, b"z" * 350),
    ),
    "bodies": (1, b"POST /contain" + HOST + b"Content-Length: 9000000\r\n\r\n" + BODY),
    "chunked bodies": (
        3,
        b"POST /contain" + HOST + b"Transfer-Encoding: chunked\r\n\r\n400000\r\n" + BODY,
    ),
    "uploads": (1, b"POST /f/large/merge" + HOST + b"Content-Length: 1004096\r\n\r\n" + BODY),
}
JOBS = ["images", "answers", "small replies", "uploads"]  # all are, where filters are in Redis


@pytest.mark.parametrize(
    ("what", "home"),
    [(what, "memory") for what in ASKED]
    + [pytest.param(what, "redis", marks=needs_redis) for what in JOBS],
)
def test_clients_that_never_read(start, request, what, home):
    """The bound holds, in the number and in memory, also of what a job copies, makes and keeps
    waiting; a client that reads is answered meanwhile."""
    bound, (threads, data) = 16 * MIB, ASKED[what]
    args = ["--deadline", 10 * PATIENCE, "--threads", threads]
    if home == "memory":
        count, more, right = 300, 6 * MIB + threads * 2 * MIB, [200]
    else:  # a reply of Redis and a stack for each of 16 threads; it may be taken for one that hangs
        count, more, right = 100, 24 * MIB, [200, 503]
        args += ["--storage", redis_url(request.getfixturevalue("redis")[0])]
    daemon = bounded(start, bound, *args, large=8_000_000)
    if home == "memory":
        add_filters(daemon)
    for _ in range(5):  # what is fresh of the allocator does not count
        daemon.get("/metrics"), daemon.get("/f/large"), daemon.post("/contain", b"\n" * 400_000)
    before, reader = daemon.resident(), daemon.client()
    with Watch(daemon) as watch:
        clients = [deaf(daemon, data) for _ in range(count)]
        for i in range(50):
            assert reader.get("/contain=k").status in right
            # The report is long, and takes the daemon's time.
            assert i % 5 or (daemon.metric("buffered_bytes") or 0) <= bound
    assert SANITIZED or watch.highest - before < bound + more
    # Room is made, of those who stand still: a client that reads gets what is large too, long
    # before their deadline.
    until_status(200, lambda: daemon.get("/f/large"))
    until_status(200, lambda: daemon.post("/contain", b"x\n" * 1_000_000))
    for client in clients:
        client.close()
    until(lambda: daemon.metric("buffered_bytes") == 0)


@pytest.mark.plain_daemon  # the sanitizer's allocator keeps what is freed
def test_what_is_given_back_leaves_the_daemon(start):
    """Large replies that go leave no gaps between those that stay: what --max-buffered counts is
    what the daemon takes, not what it ever took."""
    daemon = start("-n", 1000, "-p", 0.01, "--threads", 1)
    add_filters(daemon)
    for _ in range(5):  # from then on an allocator may think that large ones come and go
        daemon.get("/metrics"), daemon.post("/contain", b"\n" * 400_000)
    before, clients = daemon.resident(), []
    for _ in range(40):
        clients.append(deaf(daemon, METRICS * 40))  # more than the kernel takes
        assert daemon.get("/contain=k").body == b"false"
    until(lambda: daemon.metric("buffered_bytes") >= 8 * MIB)
    most = daemon.metric("buffered_bytes")
    for client in clients[::2]:
        client.socket.close()
    until(lambda: daemon.metric("buffered_bytes") <= most * 5 / 8)
    assert daemon.resident() - before < most * 3 / 4


def test_who_reads_slowly_is_not_the_first_to_go(start):
    """Those who stand still give way, one that takes some now and then does not."""
    daemon = bounded(start, "8M", "--deadline", 10 * PATIENCE, large=24_000_000)
    slow = deaf(daemon, IMAGE)
    slow.socket.settimeout(PATIENCE)
    assert slow.socket.recv(1)
    standing = deaf(daemon, IMAGE)
    length, taken = 3_000_000 + 4096, 1

    def gave_way():
        nonlocal taken
        taken += len(slow.socket.recv(4096))
        time.sleep(0.05)  # too slowly for the socket to become writable
        return daemon.get("/f/large").status == 200

    until(gave_way)
    while taken < length and (data := slow.socket.recv(1 << 16)):
        taken += len(data)
    assert taken >= length
    standing.socket.settimeout(PATIENCE)
    assert len(standing.end()) < length


def test_an_upload_that_stands_still_gives_way(start):
    daemon = bounded(start, "2M", "--deadline", 10 * PATIENCE)
    head = b"POST /add HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n"
    clients = [daemon.client().send(head + BODY) for _ in range(10)]
    until_status(200, lambda: daemon.post("/contain", b"y" * 900_000))
    assert statuses(clients[0].end()) == [503]
    assert daemon.stats()["adds"] == 0


def test_a_merge_without_room_for_the_filter(start):
    daemon = bounded(start, "1M", large=5_000_000)
    other = BloomFilter(5_000_000, 100_000)
    other.add("k")
    got = daemon.post("/f/large/merge", other.to_bytes())
    assert got.status == 503 and b"as much for its clients as --max-buffered allows" in got.body
    assert daemon.get("/f/large/contain=k").body == b"false"
    assert daemon.metric("buffered_bytes") == 0


def test_what_is_larger_than_the_bound(start):
    daemon = bounded(start, "1M", large=24_000_000)
    assert daemon.get("/f/large").status == 507
    head = b"POST /add HTTP/1.1\r\nContent-Length: 2000000\r\n\r\n"
    assert statuses(daemon.client().send(head).end()) == [503]
    assert daemon.metric("buffered_bytes") == 0


def test_nothing_may_be_held(start):
    daemon = bounded(start, 0)
    assert daemon.get("/add=k").body == b"ok"
    assert daemon.post("/add", b"k\nl").body == b"01"
    assert statuses(daemon.client().send(b"GET /add=in+two").end()) == [503]
    assert daemon.stats()["adds"] == 3


# ---- what is done by threads that may wait ----
def test_room_is_made_for_what_a_thread_makes(start):
    """Only the connection's own worker can close who stands still: it does so for its job too."""
    daemon = bounded(start, "8M", "--deadline", 10 * PATIENCE, large=24_000_000)
    for _ in range(2):
        deaf(daemon, IMAGE)
    until(lambda: daemon.metric("buffered_bytes") >= 6_000_000)
    until_status(200, lambda: daemon.get("/f/large"))


def test_input_behind_a_job_is_counted(start):
    daemon = bounded(start, "1M", large=4_000_000)
    replies = daemon.client()
    for _ in range(20):
        replies.send(IMAGE + SMALL * 500)
        assert len(replies.reply().body) == 500_000 + 4096
        for _ in range(500):
            assert replies.reply().body == b"false"
    assert daemon.metric("buffered_bytes") == 0


@pytest.mark.parametrize(
    ("bound", "sizes"),
    [("1M", [700_000]), (0, [20_000, 32_767, 32_768, 40_000, 65_000, 65_400])],
)
def test_a_batch_without_room_for_its_answers_adds_nothing(start, bound, sizes):
    """Room for the answers is doubled as they come: below 64 KiB of body they may take 64 KiB."""
    daemon = start("-n", 1_000_000, "-p", 0.01, "--max-buffered", bound)
    adds = 0
    for size in sizes:
        for _ in range(4):
            status = daemon.post("/add", b"\n" * size).status
            adds += size if status == 200 else 0
            assert status in (200, 503)
            assert daemon.stats()["adds"] == adds
    if bound:
        assert adds == 0
        few = b"%0200d\n" % 1 * 2000  # keys are counted
        assert daemon.post("/add", few).status == 200
