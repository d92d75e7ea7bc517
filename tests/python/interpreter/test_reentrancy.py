"""Code of the user's that runs in the middle of a call, and what it may do to the filters of that
call: it is done, or an exception of ours; nothing crashes, nobody waits for himself, and no key is
lost."""

import copy
import gc
import itertools
import pickle
import signal
import struct
import sys

import pytest

from bloomfilter import BloomFilter, CountingBloomFilter, Error, SaturationWarning

ACTIONS = {
    "close": lambda bf, other: bf.close(),
    "close the other": lambda bf, other: other.close(),
    "init": lambda bf, other: bf.__init__(1000, 10),
    "init the other": lambda bf, other: other.__init__(1000, 10),
    "exit": lambda bf, other: bf.__exit__(None, None, None),
    "add": lambda bf, other: bf.add("inner"),
    "in": lambda bf, other: "inner" in bf,
    "update": lambda bf, other: bf.update(["inner", "é", 10**30]),
    "contains_many": lambda bf, other: bf.contains_many(iter(["inner"])),
    "lines": lambda bf, other: bf.update_lines(b"a\nb\n"),
    "unite": lambda bf, other: bf.__ior__(other),
    "unite the other": lambda bf, other: other.__ior__(bf),
    "union": lambda bf, other: (bf | other, other | bf),
    "equal": lambda bf, other: (bf == other, other == bf),
    "update from": lambda bf, other: bf.update(other),
    "copy": lambda bf, other: (bf.copy(), copy.copy(bf), copy.deepcopy(other)),
    "pickle": lambda bf, other: pickle.dumps(bf),
    "bytes": lambda bf, other: bf.to_bytes(),
    "state": lambda bf, other: (
        len(bf),
        bool(bf),
        repr(bf),
        bf.info(),
        bf.part_info(),
        bf.bitset,
        bf.saturated,
    ),
    "sync": lambda bf, other: bf.sync(),
    "collect": lambda bf, other: gc.collect(1),
}
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


def pair(**more):
    bf, other = (
        BloomFilter(n=1000, p=0.001, **more),
        BloomFilter(
            n=1000, p=0.001, **{key: value for key, value in more.items() if key != "clock"}
        ),
    )
    bf.update(KEPT)
    other.update(KEPT)
    return bf, other


def check(bf, other, act, name, more=()):
    assert act.came is not None and act.came != "running"
    for one in (bf, other):
        try:
            assert all(key in one for key in KEPT) or "init" in name
            if one is bf:
                assert all(key in one for key in more) or "init" in name
        except ValueError as error:
            assert "closed" in str(error) and name in ("close", "close the other", "exit")
    bf.close()
    other.close()


# ---- while keys are read ----
class Key:
    def __init__(self, act):
        self.act = act

    def __index__(self):
        self.act()
        return 77


class DyingKey(str):
    def __del__(self):
        self.act()


def dying(act):
    key = DyingKey("dying")
    key.act = act
    return key


def iterate(act):
    yield "first"
    act()
    yield "last"


class Iterable:
    def __init__(self, act):
        self.act = act

    def __iter__(self):
        self.act()
        return iter(["first", "last"])

    def __length_hint__(self):
        self.act()
        return 2


class NoArrow:
    def __init__(self, act):
        self.act = act

    def __arrow_c_array__(self, requested_schema=None):
        self.act()
        raise AttributeError

    def __iter__(self):
        return iter(["first", "last"])


KEYS = {
    "generator": iterate,
    "iterable": Iterable,
    "arrow": NoArrow,
    "key in a list": lambda act: ["first", Key(act), "last"],
    "key in a generator": lambda act: iter(["first", Key(act), "last"]),
    "key that dies": lambda act: itertools.chain(
        ["first"], (dying(act) for _ in range(1)), ["last"]
    ),
    "many keys that die": lambda act: itertools.chain(
        (dying(act) for _ in range(2000)), ["first", "last"]
    ),
}
if sys.version_info >= (3, 12):

    class Exporter:
        def __init__(self, act):
            self.act = act

        def __buffer__(self, flags):
            self.act()
            return memoryview(b"exported")

        def __release_buffer__(self, view):
            self.act()

    KEYS["exporter in a list"] = lambda act: ["first", Exporter(act), "last"]


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


@pytest.mark.parametrize("name", ACTIONS)
def test_code_of_one_key(name):
    for call in (
        BloomFilter.add,
        BloomFilter.__contains__,
        BloomFilter.hashcode,
        CountingBloomFilter.count_of,
    ):
        bf, other = pair()
        if call is CountingBloomFilter.count_of:
            bf, other = CountingBloomFilter(n=1000, p=0.01), CountingBloomFilter(n=1000, p=0.01)
            bf.update(KEPT)
            other.update(KEPT)
        act = Acts(name, bf, other)
        try:
            call(bf, Key(act))
        except ValueError as error:
            assert "closed" in str(error)
        check(bf, other, act, name)


# ---- the clock ----
HOMES = ["memory", "file"]


@pytest.mark.parametrize("home", HOMES)
@pytest.mark.parametrize("name", ACTIONS)
def test_a_clock(tmp_path, name, home):
    def clock():
        if armed:
            armed.pop()()
        return 1000.0

    calls = (
        lambda: bf.add("x"), lambda: "x" in bf, lambda: bf.update(["x", "y"]), lambda: bf.update(iter(["x"])), lambda: bf.update_lines(b"x\ny\n"), lambda: len(bf),
        lambda: bf.copy(), lambda: bf == other, lambda: other == bf, lambda: bf.__ior__(other), lambda: other.__ior__(bf), lambda: bf.hashcode("x"),
        lambda: bf.to_bytes(), lambda: bf.clear(), lambda: bf.union_count(other), lambda: bf.info(), lambda: other <= bf,
    )  # fmt: skip
    for i, call in enumerate(calls):
        armed = []
        where = {} if home == "memory" else {"storage": tmp_path / f"{i}.bloom"}
        bf = BloomFilter(n=1000, p=0.001, window=1e6, clock=clock, **where)
        other = BloomFilter(n=1000, p=0.001, window=1e6, clock=lambda: 1000.0)
        bf.update(KEPT)
        other.update(KEPT)
        act = Acts(name, bf, other)
        armed.append(act)
        cleared = i == 13
        try:
            call()
        except ValueError:
            pass
        armed.clear()
        if act.came is None:  # a call that asks no clock
            act.came = "not asked"
        if "close" in name:
            assert act.came in ("not asked", "done")
        if not cleared:
            check(bf, other, act, name)


# ---- a client ----
@pytest.mark.parametrize("name", ACTIONS)
def test_a_client(redis_server, name):
    redis = pytest.importorskip("redis")

    class Pool(redis.ConnectionPool):
        def get_connection(self, *args, **kwargs):
            if armed:
                armed.pop()()
            return super().get_connection(*args, **kwargs)

    armed = []
    client = redis.Redis(connection_pool=Pool(port=redis_server.port))
    calls = (lambda: bf.add("x"), lambda: "x" in bf, lambda: bf.update(["x", "é"]), lambda: len(bf), lambda: bf.copy(), lambda: bf == other, lambda: other == bf,
             lambda: bf.__ior__(other), lambda: other | bf, lambda: bf.rebuild(KEPT))  # fmt: skip
    for call in calls:
        redis_server("FLUSHALL")
        bf, other = (
            BloomFilter(n=1000, p=0.001, storage=client, key="seen"),
            BloomFilter(n=1000, p=0.001),
        )
        bf.update(KEPT)
        other.update(KEPT)
        act = Acts(name, bf, other)
        armed.append(act)
        try:
            call()
        except (ValueError, OSError):
            pass
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
