"""Code of the user's that runs in the middle of a call, and what it may do to the filters of that
call: it is done, or an exception of ours; nothing crashes, nobody waits for himself, and no key is
lost."""

import gc
import itertools
import signal
import struct
import zlib

import pytest
from user_code import ACTIONS, KEYS, NONSENSE, File, Iterable, Key, Text, iterate

from bloomfilter import BloomFilter, CountingBloomFilter, Error, SaturationWarning

CLOSES = {"close": 0, "exit": 0, "batch that closes": 0, "close the other": 1}
LOSES = ("init", "init the other", "clear", "close and init")  # keys, or is refused
KEPT = [f"before {i}" for i in range(50)]


class Acts:
    """Does it once, and notes what came of it."""

    def __init__(self, name, bf, other):
        self.do, self.bf, self.other, self.came = ACTIONS[name], bf, other, None

    def __call__(self):
        if self.came is None:
            self.came = "running"
            try:
                self.do(self.bf, self.other)
                self.came = "done"
            except (Error, ValueError, TypeError, SaturationWarning) as error:
                self.came = error


def pair(kind=BloomFilter):
    filters = [kind(n=1000, p=0.001) for _ in range(2)]
    for bf in filters:
        bf.update(KEPT)
    return filters


def check(bf, other, act, name, more=()):
    """An action that closes takes effect when the call ends."""
    assert act.came is not None and act.came != "running", name
    closed = CLOSES.get(name) if act.came == "done" else None
    lost = name in LOSES or (name in CLOSES and isinstance(act.came, Exception))
    for i, one in enumerate((bf, other)):
        if i == closed:
            with pytest.raises(ValueError, match="closed"):
                one.add("x")
        elif not lost:
            assert all(key in one for key in [*KEPT, *(more if one is bf else ())])
    bf.close()
    other.close()


# ---- while keys are read ----
@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("name", ACTIONS)
def test_code_of_keys(name, kind):
    bf, other = pair()
    act = Acts(name, bf, other)
    try:
        bf.add_many(KEYS[kind](act))
        added = ["first", "last"]
    except ValueError as error:
        assert "closed" in str(error)
        added = []
    check(bf, other, act, name, added)


# What is asked by other calls than those of many keys.
ASKED = {
    "add": lambda bf, act: bf.add(Key(act)),
    "in": lambda bf, act: Key(act) in bf,
    "hashcode": lambda bf, act: bf.hashcode(Key(act)),
    "rebuild": lambda bf, act: bf.rebuild([*KEPT, Key(act)]),
    "rebuild from an iterator": lambda bf, act: bf.rebuild(itertools.chain(KEPT, iterate(act))),
    "save": lambda bf, act: bf.save(File(act)),
    "save, wrong": lambda bf, act: bf.save(File(act, written="x")),
    "load": lambda bf, act: BloomFilter.load(File(act, bf.to_bytes())),
    "load, wrong": lambda bf, act: BloomFilter.load(File(act, data=bytearray(b"x"))),
    "JSON": lambda bf, act: BloomFilter.from_json(Text(act, bf.to_base64())),
    "JSON, wrong": lambda bf, act: BloomFilter.from_json(Text(act, 5)),
    "constructor": lambda bf, act: BloomFilter(n=Key(act, 1000), p=0.01),
    "hashes": lambda bf, act: BloomFilter(m=1000, n=10, hashes=Iterable(act)),
    "plan": lambda bf, act: bf.plan(m=Key(act, 1000), n=Key(act, 100)),
    "window": lambda bf, act: bf.plan(n=10, p=0.1, window=Key(act, "x")),
}


@pytest.mark.parametrize("kind", [BloomFilter, CountingBloomFilter])
@pytest.mark.parametrize("name", ACTIONS)
def test_code_of_other_arguments(name, kind):
    for call in ASKED.values():
        bf, other = pair(kind)
        act = Acts(name, bf, other)
        try:
            call(bf, act)
        except (TypeError, ValueError, OSError):
            pass
        check(bf, other, act, name)


@pytest.mark.parametrize("kind", NONSENSE)
def test_nonsense_of_keys(kind):
    for name in ACTIONS:
        bf, other = pair()
        act = Acts(name, bf, other)
        try:
            assert len(bf.add_many(NONSENSE[kind](act))) <= 4
        except (TypeError, ValueError, IndexError, MemoryError, OverflowError):
            pass
        check(bf, other, act, name)


# ---- a clock, a hash function, a client ----
def with_client(code, where, redis_server):
    redis = pytest.importorskip("redis")

    class Pool(redis.ConnectionPool):
        def get_connection(self, *args, **kwargs):
            code()
            return super().get_connection(*args, **kwargs)

    redis_server("FLUSHALL")
    client = redis.Redis(connection_pool=Pool(port=redis_server.port))
    return BloomFilter(n=1000, p=0.001, storage=client, key="seen"), BloomFilter(n=1000, p=0.001)


def with_clock(code, where, _):
    forgets = {"n": 1000, "p": 0.001, "window": 1e6}
    bf = BloomFilter(**forgets, clock=lambda: code() or 1000.0, **where)
    return bf, BloomFilter(**forgets, clock=lambda: 1000.0)


def with_hash(code, where, _):
    hashes = [lambda key: code() or zlib.crc32(key)]
    sizes = {"m": 100_003, "n": 1000, "hashes": hashes}
    return BloomFilter(**sizes, **where), BloomFilter(**sizes)


HOSTS = [(with_clock, False), (with_clock, True), (with_hash, False), (with_hash, True)]
CALLS = {
    "add": lambda bf, other: bf.add("x"),
    "in": lambda bf, other: "x" in bf,
    "update": lambda bf, other: bf.update(["x", "é"]),
    "iterator": lambda bf, other: bf.update(iter(["x"])),
    "lines": lambda bf, other: bf.update_lines(b"x\ny\n"),
    "len": lambda bf, other: len(bf),
    "copy": lambda bf, other: bf.copy(),
    "==": lambda bf, other: bf == other,
    "reversed ==": lambda bf, other: other == bf,
    "|=": lambda bf, other: bf.__ior__(other),
    "reversed |=": lambda bf, other: other.__ior__(bf),
    "hashcode": lambda bf, other: bf.hashcode("x"),
    "to_bytes": lambda bf, other: bf.to_bytes(),
    "union_count": lambda bf, other: bf.union_count(other),
    "info": lambda bf, other: bf.info(),
    "<=": lambda bf, other: other <= bf,
    "rebuild": lambda bf, other: bf.rebuild(KEPT),
}
IN_USE = "add in update contains_many lines union copy bytes state init".split()


@pytest.mark.parametrize("make, in_file", [*HOSTS, (with_client, False)])
@pytest.mark.parametrize("name", ACTIONS)
def test_what_a_call_asks(tmp_path, redis_server, name, make, in_file):
    """No other call of the filter comes in while its clock, hash function or client is asked."""
    for call in CALLS:
        armed = []
        where = {"storage": tmp_path / call.replace("/", "")} if in_file else {}
        bf, other = make(lambda armed=armed: armed and armed.pop()() or None, where, redis_server)
        bf.update(KEPT)
        other.update(KEPT)
        act = Acts(name, bf, other)
        armed.append(act)
        try:
            CALLS[call](bf, other)
        except (ValueError, OSError):
            pass
        armed.clear()
        if act.came is None:  # a call that asks nobody
            act.came = "not asked"
        elif name in IN_USE and call in ("add", "in", "update", "lines", "hashcode"):
            assert isinstance(act.came, Error), act.came
        check(bf, other, act, name)


# ---- a signal, a callback of a weak reference ----


@pytest.mark.parametrize("name", ACTIONS)
def test_a_signal_handler(name):
    bf, other = pair()
    act = Acts(name, bf, other)
    old = signal.signal(signal.SIGALRM, lambda number, frame: act())
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        while True:  # once at least: on a busy machine the signal may come first
            bf.update(["é"] * 100_000)
            if act.came is not None:
                break
    except ValueError as error:
        assert "closed" in str(error)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    check(bf, other, act, name, ["é"])


@pytest.mark.parametrize("name", ["add", "close", "copy", "unite"])
def test_what_the_last_reference_runs(name):
    import weakref

    bf, other = pair()
    act = Acts(name, bf, other)

    class Clock:
        def __call__(self):
            return 1000.0

        def __del__(self):
            act()

    forgetting = BloomFilter(n=100, p=0.01, window=10.0, clock=Clock())
    ref = weakref.ref(forgetting, lambda _: act())
    forgetting.add("a")
    del forgetting
    gc.collect()
    assert ref() is None
    check(bf, other, act, name)


def test_the_filter_that_a_rebuild_fills_is_in_use(redis_server):
    redis = pytest.importorskip("redis")
    bf = BloomFilter(n=1000, p=0.01, storage=redis.Redis(port=redis_server.port), key="rebuilt")

    def keys():
        yield "a"
        for found in gc.get_objects():
            if type(found) is BloomFilter and id(found) not in before:
                found.close()
                closed.append(found)
        yield "b"

    closed = []
    others = [
        found for found in gc.get_objects() if type(found) is BloomFilter
    ]  # of other tests, and bf
    before = {id(found) for found in others}
    assert bf.rebuild(keys()) == 2 and "a" in bf and "b" in bf
    assert closed


def test_replies_that_are_wrong_or_late(redis_server):
    """A client of one's own may hand over what it likes, also after the round trip."""
    redis = pytest.importorskip("redis")
    from bloomfilter import _redis

    kept = []

    def exchange(self, parts, replies):
        if armed:
            kept.append(replies)
            for bad, error in ((["x"], TypeError), ("x", TypeError), (None, TypeError)):
                with pytest.raises(error):
                    replies.expect(bad)
                with pytest.raises(error):
                    replies.feed(bad)
            replies.expect(struct.pack("4n", 0, 1, 1, 1))
            replies.feed(b"*2\r\n" * 100)  # deeper than any reply, and never complete
            raise redis.exceptions.ConnectionError("enough")
        return plain(self, parts, replies)

    armed = False
    plain, _redis.Single.exchange = _redis.Single.exchange, exchange
    try:
        bf = BloomFilter(n=1000, p=0.01, storage=redis.Redis(port=redis_server.port), key="replies")
        bf.add("a")
        armed = True
        for call in (lambda: bf.add("b"), lambda: "a" in bf, lambda: len(bf)):
            with pytest.raises((Error, OSError)):
                call()
        armed = False
        assert "a" in bf
        late = {"feed": [b"+OK\r\n"], "expect": [b""], "refused": [], "fault": [0, "x"]}
        for replies in kept:
            for name, given in late.items():
                with pytest.raises(RuntimeError, match="over"):
                    getattr(replies, name)(*given)
    finally:
        _redis.Single.exchange = plain


def test_a_filter_closed_inside_its_batch_is_let_go_at_the_end(tmp_path):
    def keys():
        yield "a"
        bf.close()
        with pytest.raises(Error, match="exclusive writer"):
            BloomFilter(storage=path, exclusive=True)
        yield "b"

    path = tmp_path / "f.bloom"
    bf = BloomFilter(n=1000, p=0.01, storage=path, exclusive=True)
    assert bf.update(keys()) == 2
    with BloomFilter(storage=path, exclusive=True) as again:
        assert again.contains_many(["a", "b", "c"]) == b"\1\1\0"
    bf.__init__(n=100, p=0.01)
    assert bf.add("c") and len(bf) == 1
