"""A child of fork closes and uses a filter, wherever other threads of the parent were at that
moment.  A filter in which a call is active is not replaced."""

import signal

import pytest

# `child(check)` forks; the child runs check and ends, 0 where that is true.  The parent's threads
# may go on for ever.
START = """
import os, signal, sys, threading, time
import numpy as np
from bloomfilter import BloomFilter, CountingBloomFilter, Error

def child(check):
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)
        code = 1
        try:
            code = 0 if check() else 2
        except BaseException as error:
            print(type(error).__name__, error, flush=True)
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

def thread(job):
    thread = threading.Thread(target=job, daemon=True)
    thread.start()
    return thread

def thread_that_waits(job):
    # No thread takes the GIL from another here: job has it until its first wait.
    interval, begun = sys.getswitchinterval(), threading.Event()
    sys.setswitchinterval(100)
    waiting = thread(lambda: (begun.set(), job()))
    begun.wait()
    sys.setswitchinterval(interval)
    return waiting

inside, on = threading.Event(), threading.Event()
def waits():
    yield "first"
    inside.set()
    on.wait()
    yield "last"

ENDLESS = np.broadcast_to(np.int64(5), (10**12,))
def solo(bf):
    thread(lambda: bf.update(ENDLESS))
    while 5 not in bf:
        time.sleep(0.001)

def use(bf, more=()):
    for key in ("a", "é", b"b", 7, *more):
        bf.add(key)
    return "a" in bf and 7 in bf and bf.update(["c", "d"]) >= 0 and bf.contains_many(["c", "d"]) == b"\\1\\1" and bf.copy().m > 0

def close(bf):
    bf.close()
    bf.close()
    try:
        bf.add("x")
    except ValueError:
        return True

def refused(bf):
    try:
        bf.__init__(n=5, p=.1)
    except Error as error:
        return "cannot replace" in str(error)
"""
END = "\nsys.stdout.flush(); os._exit(0)"

CASES = {
    "a batch of another thread": """
bf = BloomFilter(n=1000, p=.01)
thread(lambda: bf.update(waits()))
inside.wait()
print(child(lambda: close(bf)), child(lambda: use(bf) and close(bf)), child(lambda: refused(bf) and close(bf) and refused(bf)), refused(bf))
""",
    "the thread without the GIL": """
bf = BloomFilter(n=1000, p=.01)
solo(bf)
print(child(lambda: close(bf)), child(lambda: use(bf) and close(bf)), child(lambda: bf.update(np.arange(5000)) > 0 and close(bf)))
""",
    "in an iterator": """
bf, codes = BloomFilter(n=1000, p=.01), []
def keys():
    yield "a"
    codes.append(child(lambda: refused(bf) and bf.add("from the child")))
    yield "b"
bf.update(keys())
print(codes, close(bf))
""",
    "in an iterator, and on": """
bf = BloomFilter(n=1000, p=.01)
def keys():
    global pid
    yield "a"
    pid = os.fork()
    yield "b"
bf.update(keys())
ok = "b" in bf and close(bf)
if pid == 0:
    os._exit(0 if ok else 1)
print(ok, os.waitpid(pid, 0)[1])
""",
    "in an iterator that closes it": """
bf = BloomFilter(n=1000, p=.01)
def keys():
    global pid
    yield "a"
    pid = os.fork()
    bf.close()
    yield "b"
ok = bf.update(keys()) == 2 and close(bf)
bf.__init__(n=5, p=.1)
ok = ok and use(bf)
if pid == 0:
    os._exit(0 if ok else 1)
print(ok, os.waitpid(pid, 0)[1])
""",
    "another thread asks the clock": """
def clock():
    if not inside.is_set() and threading.current_thread() is not threading.main_thread():
        inside.set()
        on.wait()
    return 1000.0
bf = BloomFilter(n=1000, p=.01, window=10.0, clock=clock)
thread(lambda: bf.add("a"))
inside.wait()
print(child(lambda: close(bf)), child(lambda: use(bf) and close(bf)), refused(bf))
""",
}
WANT = {
    "a batch of another thread": "0 0 0 True",
    "the thread without the GIL": "0 0 0",
    "in an iterator": "[0] True",
    "in an iterator, and on": "True 0",
    "in an iterator that closes it": "True 0",
    "another thread asks the clock": "0 0 True",
}


@pytest.mark.parametrize("case", CASES)
def test_a_fork_during(run_python, case):
    assert run_python(START + CASES[case] + END) == WANT.get(case, "0")


@pytest.mark.parametrize(
    "client, kind",
    [
        *(("URL", kind) for kind in ("", "grow=2.0", "window=1e6")),
        ("client", ""),
        ("client of one connection", "grow=2.0"),
    ],
)
def test_a_fork_during_another_threads_trip(redis_by_url, run_python, kind, client):
    """The server is stopped at that moment, and the child waits for it to go on.  The lock of an
    only connection is another thread's, who is not in the child."""
    redis_by_url("FLUSHALL")
    one = f"port={redis_by_url.port}, socket_timeout=60, single_connection_client={'one' in client}"
    where = f"storage=redis.Redis({one}), key='fork'"
    if client == "URL":
        where = f"storage={redis_by_url.url('fork')!r}"
    code = f"""
import redis
bf = BloomFilter(n=1000, p=.01, {where}, {kind})
os.kill({redis_by_url.process.pid}, signal.SIGSTOP)
thread_that_waits(lambda: bf.add("a"))
pid = os.fork()
if pid == 0:
    signal.alarm(60)
    os._exit(0 if use(bf) and close(bf) else 1)
closes = child(lambda: close(bf))
time.sleep(0.1)  # the other child waits
os.kill({redis_by_url.process.pid}, signal.SIGCONT)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), closes)
"""
    try:
        assert run_python(START + code + END) == "0 0"
    finally:
        redis_by_url.process.send_signal(signal.SIGCONT)


def test_a_fork_while_another_thread_waits_for_a_file(tmp_path, run_python):
    code = f"""
import fcntl
bf = BloomFilter(n=50, p=.01, grow=2.0, storage={str(tmp_path / "seen.bloom")!r})
lock = open({str(tmp_path / "seen.bloom")!r}, "rb")
fcntl.flock(lock, fcntl.LOCK_EX)
thread_that_waits(lambda: [bf.add(i) for i in range(1000)])
print(child(lambda: close(bf)), refused(bf))
"""
    assert run_python(START + code + END) == "0 True"


def test_a_fork_while_another_thread_waits_with_borrowed_keys(tmp_path, run_python):
    """The child's first call that waits must not hold the keys of that thread's batch."""
    path = str(tmp_path / "seen.bloom")
    code = f"""
import fcntl
bf = BloomFilter(n=100_000, p=.001, storage={path!r})
bf.add("a")
begun, go = os.pipe(), os.pipe()
rebuilder = os.fork()
if rebuilder == 0:
    def slowly():
        yield "a"
        os.write(begun[1], b"x")
        os.read(go[0], 1)
    BloomFilter.open({path!r}).rebuild(slowly())
    os._exit(0)
os.read(begun[0], 1)
lock = os.open({path!r}, os.O_RDONLY)
fcntl.flock(lock, fcntl.LOCK_EX)
keys = ["key%d" % i for i in range(700)]
other = thread_that_waits(lambda: bf.update(keys))
def deep(n):
    return deep(n - 1) + [n] * 3 if n else [0]
def trample():  # on the stacks of threads that are no more
    for _ in range(30):
        deep(900)
        sorted(str(i) for i in range(3000))
def late():
    deep(500)
    os.write(begun[1], b"x")
    bf.add("child")
def check():
    os.close(lock)
    tramplers = [threading.Thread(target=trample) for _ in range(6)]
    for one in tramplers:
        one.start()
    for one in [*tramplers, threading.Thread(target=late)]:
        one.ident or one.start()
        one.join()
    bf.add("child 2")
    return True
pid = os.fork()
if pid == 0:
    os._exit(0 if check() else 1)
os.read(begun[0], 1)
time.sleep(0.3)  # the child waits
fcntl.flock(lock, fcntl.LOCK_UN)
os.close(lock)
print(os.waitpid(pid, 0)[1])
os.write(go[1], b"x")
other.join()
os.waitpid(rebuilder, 0)
"""
    assert run_python(START + code + END) == "0"
