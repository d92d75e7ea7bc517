"""--max-buffered bounds all that clients can make the daemon hold, in its own number and in memory,
and who reads is served."""

import re
import socket
import threading
import time

import pytest
from bloomfilter import BloomFilter
from daemons import PATIENCE, SANITIZED, needs_redis, redis_url
from test_daemon_bad_input import statuses

MIB = 1 << 20


def buffered(daemon):
    got = daemon.get("/metrics")
    return (
        int(re.search(rb"bloomfilter_buffered_bytes (\d+)", got.body)[1])
        if got.status == 200
        else None
    )


def resident(daemon):
    with open(f"/proc/{daemon.process.pid}/status") as status:
        return 1024 * int(re.search(r"VmRSS:\s+(\d+)", status.read())[1])


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
        self.daemon_, self.highest, self.done = daemon, 0, threading.Event()

    def run(self):
        while not self.done.is_set():
            self.highest = max(self.highest, resident(self.daemon_))
            time.sleep(0.01)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.join()


def many_filters(start, *args):
    daemon = start("-n", 1000, "-p", 0.01, *args)
    client = daemon.client()
    for i in range(200):
        assert client.ask("PUT", "/f/" + f"n{i}_".ljust(64, "x") + "?n=10&p=0.1").status == 201
    return daemon


METRICS = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"
IMAGE = b"GET /f/large HTTP/1.1\r\nHost: localhost\r\n\r\n"
BATCH = (
    b"POST /contain HTTP/1.1\r\nHost: localhost\r\nContent-Length: 400000\r\n\r\n" + b"\n" * 400_000
)
ASKED = {
    "reports": METRICS * 12,
    "images": IMAGE * 3,
    "answers": BATCH * 3,
    "small replies": b"GET /contain=k HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20_000,
    "a reply and input behind it": METRICS
    + b"GET /contain=k HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1400,
    "a report behind small replies": b"GET /contain=k HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1300
    + METRICS,
    "heads": b"GET /contain="
    + b"x" * 16_000
    + b" HTTP/1.1\r\nA: "
    + b"y" * 16_000
    + b"\r\nAuthorization: "
    + b"z" * 350,
    "bodies": b"POST /contain HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9000000\r\n\r\n"
    + b"x" * 300_000,
    "chunked bodies": b"POST /contain HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n400000\r\n"
    + b"x" * 300_000,
    "images that are uploaded": b"POST /f/large/merge HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1004096\r\n\r\n"
    + b"x" * 300_000,
}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("what", ASKED)
def test_clients_that_never_read(start, what, threads):
    """300 of them: the bound holds, in the number and in memory, and a client that reads is
    answered meanwhile."""
    bound = 16 * MIB
    daemon = many_filters(start, "--max-buffered", bound, "--threads", threads)
    assert daemon.ask("PUT", "/f/large?m=8000000&n=100000").status == 201
    for _ in range(5):  # what is fresh of the allocator does not count
        daemon.get("/metrics"), daemon.get("/f/large"), daemon.post("/contain", b"\n" * 400_000)
    before, reader = resident(daemon), daemon.client()
    with Watch(daemon) as watch:
        clients = [deaf(daemon, ASKED[what]) for _ in range(300)]
        for _ in range(50):
            assert reader.get("/contain=k").body == b"false"
        for _ in range(10):
            held = buffered(daemon)
            assert held is None or held <= bound
            time.sleep(0.05)
    if not SANITIZED:
        assert watch.highest - before < bound + 6 * MIB + threads * 2 * MIB
    # Room is made, of those who stand still: a client that reads gets what is large too, long
    # before their deadline of 30 s.
    began = time.monotonic()
    while daemon.get("/f/large").status != 200:
        time.sleep(0.1)
    while daemon.post("/contain", b"x\n" * 1_000_000).status != 200:
        time.sleep(0.1)
    # The sanitized daemon takes several times as long.
    assert time.monotonic() - began < (30 if SANITIZED else 15)
    for client in clients:
        client.close()
    until = time.monotonic() + PATIENCE
    while buffered(daemon) != 0:
        assert time.monotonic() < until


@pytest.mark.plain_daemon  # the sanitizer's allocator keeps what is freed
def test_what_is_given_back_leaves_the_daemon(start):
    """Large replies that go leave no gaps between those that stay: what --max-buffered counts is
    what the daemon takes, not what it ever took."""
    daemon = many_filters(start, "--threads", 1)
    for _ in range(5):  # from then on an allocator may think that large ones come and go
        daemon.get("/metrics"), daemon.post("/contain", b"\n" * 400_000)
    before, clients = resident(daemon), []
    for _ in range(40):
        clients.append(deaf(daemon, METRICS * 40))  # more than the kernel takes
        assert daemon.get("/contain=k").body == b"false"
    until = time.monotonic() + PATIENCE
    while (most := buffered(daemon)) < 8 * MIB:
        assert time.monotonic() < until
    for client in clients[::2]:
        client.socket.close()
    while buffered(daemon) > most * 5 / 8:
        assert time.monotonic() < until
    assert resident(daemon) - before < most * 3 / 4


def test_who_reads_slowly_is_not_the_first_to_go(start):
    """Those who stand still give way, one that takes some now and then does not."""
    daemon = start("-n", 1000, "-p", 0.01, "--max-buffered", "8M")
    assert daemon.ask("PUT", "/f/large?m=24000000&n=100000").status == 201
    slow = deaf(daemon, IMAGE)
    slow.socket.settimeout(PATIENCE)
    assert slow.socket.recv(1)
    standing = deaf(daemon, IMAGE)
    length, taken = 3_000_000 + 4096, 1
    until = time.monotonic() + 30
    while time.monotonic() < until:
        taken += len(slow.socket.recv(4096))
        if daemon.get("/f/large").status == 200:
            break
        time.sleep(0.05)
    else:
        raise AssertionError("nobody gave way")
    while data := slow.socket.recv(1 << 16):
        taken += len(data)
        if taken >= length:
            break
    assert taken >= length
    standing.socket.settimeout(PATIENCE)
    assert len(standing.end()) < length


def test_an_upload_that_stands_still_gives_way(start):
    daemon = start("-n", 1000, "-p", 0.01, "--max-buffered", "2M")
    clients = [
        daemon.client().send(
            b"POST /add HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 400_000
        )
        for _ in range(8)
    ]
    until = time.monotonic() + 25
    while daemon.post("/contain", b"y" * 900_000).status != 200:
        assert time.monotonic() < until
        time.sleep(0.1)
    got = [statuses(client.end()) for client in clients[:1]]
    assert got == [[503]]
    assert daemon.stats()["adds"] == 0


def test_a_batch_without_room_for_its_answers_adds_nothing(start):
    daemon = start("-n", 1_000_000, "-p", 0.01, "--max-buffered", "1M")
    got = daemon.post("/add", b"\n" * 700_000)  # its body, and as many answers
    assert got.status == 503
    assert daemon.stats()["adds"] == 0
    assert daemon.post("/add", b"%0200d\n" % 1 * 2000).status == 200  # few keys: they are counted


def test_a_merge_without_room_for_the_filter(start):
    daemon = start("-n", 1000, "-p", 0.01, "--max-buffered", "1M")
    assert daemon.ask("PUT", "/f/x?m=5000000&n=100000").status == 201
    other = BloomFilter(5_000_000, 100_000)
    other.add("k")
    got = daemon.ask("POST", "/f/x/merge", other.to_bytes())
    assert (got.status, got.body) == (
        503,
        b"Service Unavailable: the daemon holds as much for its clients as --max-buffered allows",
    )
    assert daemon.get("/f/x/contain=k").body == b"false"
    assert buffered(daemon) == 0


def test_what_is_larger_than_the_bound(start):
    daemon = start("-n", 1000, "-p", 0.01, "--max-buffered", "1M")
    daemon.ask("PUT", "/f/large?m=24000000&n=100000")
    assert daemon.get("/f/large").status == 507
    assert statuses(
        daemon.client().send(b"POST /add HTTP/1.1\r\nContent-Length: 2000000\r\n\r\n").end()
    ) == [503]
    assert buffered(daemon) == 0


def test_nothing_may_be_held(start):
    daemon = start("-n", 1000, "-p", 0.01, "--max-buffered", 0)
    assert daemon.get("/add=k").body == b"ok"
    assert daemon.post("/add", b"k\nl").body == b"01"
    assert statuses(daemon.client().send(b"GET /add=in+two").end()) == [503]
    assert daemon.stats()["adds"] == 3


# ---- what is done by threads that may wait ----
@needs_redis
@pytest.mark.parametrize(
    "what",
    [
        "reports",
        "images",
        "answers",
        "small replies",
        "a reply and input behind it",
        "images that are uploaded",
    ],
)
def test_clients_that_never_read_from_redis(start, redis, what):
    """All of these are jobs: what they copy, make and keep waiting is within the bound too."""
    bound = 16 * MIB
    daemon = start(
        "-n", 1000, "-p", 0.01, "--storage", redis_url(redis[0]), "--max-buffered", bound
    )
    assert daemon.ask("PUT", "/f/large?m=8000000&n=100000").status == 201
    for _ in range(5):
        daemon.get("/metrics"), daemon.get("/f/large"), daemon.post("/contain", b"\n" * 400_000)
    before = resident(daemon)
    with Watch(daemon) as watch:
        clients = [deaf(daemon, ASKED[what]) for _ in range(100)]
        for _ in range(10):
            assert daemon.get("/contain=k").status in (
                200,
                503,
            )  # Redis is busy, so it may be taken for one that hangs
            held = buffered(daemon)
            assert held is None or held <= bound
            time.sleep(0.05)
    if not SANITIZED:
        assert (
            watch.highest - before < bound + 24 * MIB
        )  # a reply of Redis and a stack for each of 16 threads
    began = time.monotonic()
    while daemon.get("/f/large").status != 200:
        time.sleep(0.1)
    assert time.monotonic() - began < (90 if SANITIZED else 40)
    for client in clients:
        client.close()
    until = time.monotonic() + PATIENCE
    while buffered(daemon) != 0:
        assert time.monotonic() < until


def test_room_is_made_for_what_a_thread_makes(start):
    """Only the connection's own worker can close who stands still: it does so for its job too."""
    daemon = start("-n", 1000, "-p", 0.01, "--max-buffered", "8M")
    assert daemon.ask("PUT", "/f/large?m=24000000&n=100000").status == 201
    standing = [deaf(daemon, IMAGE) for _ in range(2)]
    until = time.monotonic() + PATIENCE
    while buffered(daemon) < 6_000_000:
        assert time.monotonic() < until
    time.sleep(3)  # a client that stood still for 2 seconds gives way
    assert daemon.get("/f/large").status == 200
    for client in standing:
        client.close()


def test_input_behind_a_job_is_counted(start):
    daemon = start("-n", 1000, "-p", 0.01, "--max-buffered", "1M")
    assert daemon.ask("PUT", "/f/large?m=4000000&n=100000").status == 201
    replies = daemon.client()
    for _ in range(20):
        replies.send(IMAGE + b"GET /contain=k HTTP/1.1\r\nHost: localhost\r\n\r\n" * 500)
        assert len(replies.reply().body) == 500_000 + 4096
        for _ in range(500):
            assert replies.reply().body == b"false"
    assert buffered(daemon) == 0


def test_a_batch_that_is_refused_adds_nothing_whatever_its_size(start):
    """Room for the answers is doubled as they come: below 64 KiB of body they may take 64 KiB."""
    daemon = start("-n", 1_000_000, "-p", 0.01, "--max-buffered", 0)
    adds = 0
    for size in (20_000, 32_767, 32_768, 40_000, 65_000, 65_400):
        for _ in range(4):
            status = daemon.post("/add", b"\n" * size).status
            adds += size if status == 200 else 0
            assert status in (200, 503)
            assert daemon.stats()["adds"] == adds
