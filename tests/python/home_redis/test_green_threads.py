"""Threads and green threads (gevent, eventlet) that share a filter on a client of redis-py: the
second one waits.  Code that runs inside a client and uses another filter does not wait for it."""

import functools
import subprocess
import sys
import threading

import pytest
from bloomfilter import BloomFilter, Error
from redis_clients import redis
from threads import in_threads

GREEN = """
import sys
port, kind, options, filters = int(sys.argv[1]), sys.argv[2], eval(sys.argv[3]), eval(sys.argv[4])
if kind == "gevent":
    from gevent import monkey; monkey.patch_all(); import gevent
else:
    import eventlet; eventlet.monkey_patch()
import collections, redis
from bloomfilter import BloomFilter
client = redis.Redis(port=port, **options)
a, b = [BloomFilter(n=100_000, p=1e-9, storage=client, key=k, **filters) for k in ("a", "b")]
answers = collections.Counter()
def work(i):
    for j in range(10):
        seen = b if i % 3 == 0 else a
        for call in ("add", "__contains__", "add"):
            try: answers[getattr(seen, call)(f"{i}-{j}")] += 1
            except Exception as error: answers[f"{type(error).__name__}: {error}"] += 1
if kind == "gevent":
    gevent.joinall([gevent.spawn(work, i) for i in range(20)])
else:
    pool = eventlet.GreenPool(20)
    for i in range(20): pool.spawn_n(work, i)
    pool.waitall()
print(dict(answers))
"""


@pytest.mark.parametrize("kind", ["gevent", "eventlet"])
@pytest.mark.parametrize(
    "options, filters", [({"single_connection_client": True}, {}), ({}, {"grow": 2})], ids=str
)
def test_green_threads_wait_for_each_other(redis_server, kind, options, filters):
    pytest.importorskip(kind)
    redis_server("FLUSHALL")
    command = [sys.executable, "-W", "ignore", "-c", GREEN]
    command += [str(redis_server.port), kind, repr(options), repr(filters)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert eval(done.stdout) == {True: 400, False: 200}


GIVEN_UP = """
import sys
from gevent import monkey; monkey.patch_all()
import gevent, redis
from bloomfilter import BloomFilter
f = BloomFilter(n=1000, p=1e-9, storage=redis.Redis(port=int(sys.argv[1]), socket_timeout=60), key="green")
client = redis.Redis(port=int(sys.argv[1]))
client.client_pause(60000, all=False)
first, second = gevent.spawn(f.add, "x"), gevent.spawn(f.add, "y")
gevent.sleep(0.1)
second.kill()      # it waits for its turn
assert isinstance(second.value, gevent.GreenletExit), second.value
client.client_unpause()
assert first.get(timeout=60) is True and f.add("y") is True
client.client_pause(60000, all=False)
try:
    with gevent.Timeout(0.1): f.add("z")   # it waits for Redis
except gevent.Timeout: pass
else: raise SystemExit("no timeout")
client.client_unpause()
assert "x" in f and "y" in f and "absent" not in f
print("right")
"""


def test_a_green_thread_is_ended(redis_server):
    pytest.importorskip("gevent")
    redis_server("FLUSHALL")
    command = [sys.executable, "-c", GIVEN_UP, str(redis_server.port)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout == "right\n", done.stderr


# ---- code inside a client ----
class Hooked(redis.Connection):
    """Calls hook.use() once, before commands are sent."""

    hook = threading.local()

    def send_packed_command(self, command, check_health=True):
        use = getattr(self.hook, "use", None)
        if use:
            self.hook.use = None
            use()
        super().send_packed_command(command, check_health)


def hooked(port, one):
    pool = redis.ConnectionPool(connection_class=Hooked, port=port)
    return redis.Redis(connection_pool=pool, single_connection_client=one)


def in_a_circle(outer, inner, match):
    """A thread for each filter of `outer` adds to it; inside its client it adds to the next filter of
    `inner`, when all of them are that far.  That is refused at once, and the adds are made."""
    count = len(outer)
    inside, done = threading.Barrier(count), threading.Barrier(count)
    refused, answers = [], []

    def walk(i):
        def use():
            inside.wait(30)
            with pytest.raises(Error, match=match) as caught:
                inner[(i + 1) % count].add("z")
            refused.append(caught.value.errno)
            done.wait(30)

        Hooked.hook.use = use
        answers.append(outer[i].add("y"))

    in_threads(*(functools.partial(walk, i) for i in range(count)), seconds=60)
    assert len(refused) == count and len(set(refused)) == 1 and answers == [True] * count
    assert all("y" in f and "z" not in f for f in outer)


@pytest.mark.parametrize("kind", [{}, {"grow": 2}], ids=str)
@pytest.mark.parametrize("one", [False, True])
@pytest.mark.parametrize("threads", [2, 3])
def test_threads_do_not_wait_in_a_circle(redis_server, threads, one, kind):
    redis_server("FLUSHALL")
    clients = [hooked(redis_server.port, one) for _ in range(threads)]
    filters = [
        BloomFilter(n=1000, p=1e-9, storage=client, key=f"circle {i}", **kind)
        for i, client in enumerate(clients)
    ]
    in_a_circle(filters, filters, "is in use")


def test_two_filters_united_in_both_orders(redis_server):
    redis_server("FLUSHALL")
    client = redis.Redis(port=redis_server.port)
    a, b = (BloomFilter(n=1000, p=1e-9, storage=client, key=key) for key in "ab")
    a.add("a")
    b.add("b")

    united = []

    def unite(f, g):
        for _ in range(50):
            f |= g
            united.append(1)

    in_threads(lambda: unite(a, b), lambda: unite(b, a), seconds=100)
    assert len(united) == 100 and all("a" in f and "b" in f for f in (a, b))


def test_the_only_connection_is_not_waited_for_inside_a_client(redis_server):
    """Two clients of one connection each; both threads are inside one and use the other."""
    redis_server("FLUSHALL")
    clients = [hooked(redis_server.port, True) for _ in range(2)]
    outer = [BloomFilter(n=100, p=1e-9, storage=c, key=f"o{i}") for i, c in enumerate(clients)]
    inner = [BloomFilter(n=100, p=1e-9, storage=c, key=f"i{i}") for i, c in enumerate(clients)]
    in_a_circle(outer, inner, "waits for another reply")
