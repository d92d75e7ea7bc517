"""Whoever waits, for Redis or for a file's lock, lets other threads run: in every call, and when
the last reference goes.

What a call waits for comes from another thread of the interpreter, after it has run several times:
a call that keeps the GIL gets it never, however fast or slow the machine is."""

import array
import contextlib
import functools
import itertools
import pickle
import signal
import subprocess
import sys
import threading
import time

import pytest
from servers import PATIENCE, until
from turns import Ticker

from bloomfilter import BloomFilter

KINDS = {
    "fixed": {},
    "grow": {"grow": 2.0},
    "window with a clock": {"window": 1e6, "clock": time.time},
}


@pytest.fixture(autouse=True)
def keep_the_gil():
    """No thread takes the GIL from another: one that runs has been given it."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(100)
    yield
    sys.setswitchinterval(interval)


def waits(call, end, meanwhile=lambda: None):
    """Whether the call was still waiting when another thread called `end`, which ends its wait: it
    had run `meanwhile`, and slept, before."""
    called, order = threading.Event(), []

    def other():
        called.wait()
        meanwhile()
        for _ in range(3):
            time.sleep(0.03)
        order.append("end")
        end()

    thread = threading.Thread(target=other)
    thread.start()
    try:
        called.set()
        call()
        order.append("return")
    finally:
        thread.join()
    return order[0] == "end"


def calls(bf, other, url, folder):
    return {
        "add": lambda: bf.add("new"), "in": lambda: "x" in bf, "update": lambda: bf.update(["new"]), "generator": lambda: bf.update(iter(["new", "é"])),
        "contains_many": lambda: bf.contains_many(["x"]), "lines": lambda: bf.update_lines(b"a\nb\n"), "hashcode": lambda: bf.hashcode("x"),
        "part_info": bf.part_info, "repr": lambda: repr(bf), "m": lambda: bf.m, "len": lambda: len(bf), "bool": lambda: bool(bf), "info": bf.info,
        "fill_ratio": lambda: bf.fill_ratio, "saturated": lambda: bf.saturated, "bitset": lambda: bf.bitset, "copy": bf.copy, "to_bytes": bf.to_bytes,
        "save": lambda: bf.save(folder / "saved"), "pickle": lambda: pickle.loads(pickle.dumps(bf)), "==": lambda: bf == other, "reversed ==": lambda: other == bf,
        "|=": lambda: bf.__ior__(other), "|": lambda: other | bf, "union_count": lambda: other.union_count(bf), "<=": lambda: other <= bf,
        "clear": bf.clear, "sync": bf.sync, "expire": lambda: bf.expire(100), "rebuild": lambda: bf.rebuild(["a"]), "delete": bf.delete,
        "open": lambda: BloomFilter.open(url), "construct": lambda: BloomFilter(n=1000, p=0.01, storage=url + "2"),
        "construct again": lambda: bf.__init__(n=1000, p=0.01, storage=url), "close": bf.close,
    }  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_while_redis_hangs(redis_by_url, tmp_path, kind):
    url = redis_by_url.url(f"gil-{kind.replace(' ', '-')}", f"&timeout={PATIENCE}")
    bf, other = (
        BloomFilter(n=1000, p=0.01, storage=url, **KINDS[kind]),
        BloomFilter(n=1000, p=0.01, **KINDS[kind]),
    )
    bf.update(str(i) for i in range(20))
    send = redis_by_url.process.send_signal
    waited = {}
    for name, call in calls(bf, other, url, tmp_path).items():

        def unless_refused(call=call):
            with contextlib.suppress(ValueError):  # a filter that forgets cannot be rebuilt
                call()

        send(signal.SIGSTOP)
        try:
            waited[name] = waits(unless_refused, lambda: send(signal.SIGCONT))
        finally:
            send(signal.SIGCONT)
    assert waited["in"] and waited["open"]


HOLD = """
import fcntl, select, sys
f = open(sys.argv[1], 'rb')
fcntl.flock(f, fcntl.LOCK_EX)
print('held', flush=True)
sys.exit(not select.select([sys.stdin], [], [], float(sys.argv[2]))[0])
"""


def under_lock(path, call, meanwhile=lambda: None):
    """The call, while another process has the file's lock: until the call has waited and
    `meanwhile` was run in another thread."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path), str(PATIENCE)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout.readline() == b"held\n"
        waited = waits(call, holder.stdin.close, meanwhile)
        assert holder.wait() == 0, "the other thread could not run"
    return waited


@pytest.mark.parametrize("clock", [None, time.time], ids=["", "clock"])
@pytest.mark.parametrize(
    "call", "add update generator lines array len copy part_info to_bytes union equal".split()
)
def test_while_a_file_is_locked(tmp_path, call, clock):
    path = tmp_path / "seen.bloom"
    with (
        BloomFilter(n=50, p=0.01, storage=path, window=1e6, clock=clock)
        if clock
        else BloomFilter(n=50, p=0.01, storage=path, grow=2.0) as bf
    ):
        keys = [f"é{i}" for i in range(300)]
        calls = {
            "add": lambda: [bf.add(key) for key in keys], "update": lambda: bf.update(keys), "generator": lambda: bf.update(iter(keys)),
            "lines": lambda: bf.update_lines("\n".join(keys).encode(), last=True), "array": lambda: bf.update(array.array("q", range(300))),
            "len": lambda: len(bf), "copy": bf.copy, "part_info": bf.part_info, "to_bytes": bf.to_bytes, "union": lambda: bf.copy() | bf, "equal": lambda: bf == bf.copy(),
        }  # fmt: skip
        assert under_lock(path, calls[call]) or clock
        if call in ("add", "update", "generator", "lines"):
            assert all(key in bf for key in keys)


@pytest.mark.parametrize("rebuilt", [False, True])
def test_a_list_may_change_while_a_file_is_locked(tmp_path, rebuilt):
    """The keys of a list are held for that long, also while the file is rebuilt."""
    path, others = tmp_path / "seen.bloom", []
    size = {"n": 1000} if rebuilt else {"n": 50, "grow": 2.0}
    with BloomFilter(p=0.01, storage=path, **size) as bf:
        wanted = lambda count: [b"key %03d " % i * 20 for i in range(count)]  # noqa: E731
        keys = wanted(400)

        def locked():
            assert under_lock(
                path,
                lambda: bf.update(keys),
                lambda: (keys.clear(), others.extend(b"lost %02d " % i * 20 for i in range(1000))),
            )
            yield "kept"

        bf.rebuild(locked()) if rebuilt else next(locked())
        assert not keys, "the list was emptied meanwhile"
        assert all(bf.contains_many(wanted(200 if rebuilt else 50)))


@pytest.mark.parametrize("single", [False, True])
def test_closing_while_another_thread_waits_for_a_file(tmp_path, single):
    """The call of the other thread ends as if nobody had closed the filter."""
    path = tmp_path / "seen.bloom"
    bf = BloomFilter(n=50, p=0.01, storage=path, grow=2.0)
    if single:  # the next new key needs another part, and so the lock
        bf.update(range(50))
    begun, done = threading.Event(), []

    def keys():
        begun.set()
        yield from range(200)

    def call():
        if not single:
            done.append(bf.update(keys()))
            return
        begun.set()
        done.append(bf.add(1000))

    def close():
        begun.wait()
        bf.close()

    assert under_lock(path, call, close)
    assert done
    with pytest.raises(ValueError, match="closed"):
        bf.add("x")
    with BloomFilter(storage=path) as again:
        assert (1000 in again) if single else all(i in again for i in range(200))


def test_while_a_filter_in_memory_is_copied():
    """A copy keeps its parts together: who begins a new one waits for its end, and others run."""
    bf = BloomFilter(n=1 << 23, p=0.001, window=0.2, parts=4)
    over = threading.Event()

    def copy_on():
        while not over.is_set():
            bf.copy().close()

    copier = threading.Thread(target=copy_on)
    copier.start()
    keys = itertools.count()
    with Ticker() as ticker:
        until(
            lambda: time.sleep(0) or ticker.during(functools.partial(bf.add, next(keys))) >= 3,
            "a wait",
        )
    over.set()
    copier.join()
