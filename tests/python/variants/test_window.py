"""Filters that forget, under a clock of the test's."""

import datetime
import gc
import pickle
import time
import warnings
import weakref

import pytest

from bloomfilter import BloomFilter, Error, SaturationWarning

pytestmark = pytest.mark.quick


class Clock:
    def __init__(self, now=1e9):
        self.now = now

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(params=["memory", "file"])
def storage(request, tmp_path):
    return None if request.param == "memory" else tmp_path / "window.bloom"


def test_batches(clock):
    bf = BloomFilter(n=1000, p=1e-6, window=10, clock=clock)
    first, second = [f"a{i}" for i in range(1000)], [f"b{i}" for i in range(1000)]
    assert bf.update(first) == 1000 and bf.update(first) == 0
    clock.now += 8
    assert (
        bf.add_many(first[:10] + second) == b"\0" * 10 + b"\1" * 1000
    )  # the first ten count from now on
    clock.now += 5
    assert bf.contains_many(first) == b"\1" * 10 + b"\0" * 990 and all(bf.contains_many(second))
    assert len(bf) == pytest.approx(1010, rel=0.05) and 0 < bf.fpr <= 1e-6 and 0 < bf.fill_ratio < 1
    assert [part["until"] - part["since"] for part in bf.part_info() if part["until"]] == [
        12.5,
        12.5,
    ]
    assert any(bf.hashcode("a1")) and len(bf.bitset) * 8 == bf.m


def test_default_clock_is_the_systems():
    bf = BloomFilter(n=100, p=0.01, window=3600)
    assert bf.parts == 4 and bf.add("x") and "x" in bf and not bf.add("x")
    assert "window=3600" in repr(bf)
    assert pickle.loads(pickle.dumps(bf)) == bf


def test_copies_and_bytes(clock, tmp_path):
    bf = BloomFilter(n=100, p=0.001, window=60, clock=clock)
    bf.add("x")
    bf.save(tmp_path / "w.bloom")
    copies = [
        bf.copy(),
        bf | bf.copy(),
        BloomFilter.from_bytes(bf.to_bytes(), clock=clock),
        BloomFilter.load(tmp_path / "w.bloom", clock=clock),
        BloomFilter.open(tmp_path / "w.bloom", clock=clock),
    ]
    assert all(copy == bf and "x" in copy for copy in copies)
    clock.now += 100
    assert all("x" not in copy for copy in copies)
    with pytest.raises(Error, match="clock of its own"):
        pickle.dumps(bf)


def test_a_clock_that_fails_raises_its_exception(clock):
    fault = None

    def broken():
        if fault:
            raise fault
        return clock.now

    bf = BloomFilter(n=100, p=0.01, window=60, clock=broken)
    assert bf.add("x")
    fault = ZeroDivisionError("no time")
    for call in (
        lambda: bf.add("y"),
        lambda: "x" in bf,
        lambda: bf.update(["y"]),
        lambda: len(bf),
        lambda: bf.hashcode("x"),
    ):
        with pytest.raises(ZeroDivisionError, match="no time"):
            call()
    fault = None
    assert "x" in bf and "y" not in bf
    for wrong, error in (
        ("now", TypeError),
        (float("nan"), ValueError),
        (float("inf"), ValueError),
    ):
        with pytest.raises(error):
            BloomFilter(n=100, p=0.01, window=60, clock=lambda wrong=wrong: wrong).add("x")
    for wrong in (5, "time"):
        with pytest.raises(TypeError):
            BloomFilter(n=100, p=0.01, window=60, clock=wrong)


def test_a_clock_looks_and_closes():
    bf = None

    def nosy():
        if bf is not None:
            bf.m
            with pytest.raises(Error, match="cannot replace"):
                bf.__init__(n=1, p=0.1)
            if closes:
                bf.close()
        return 5.0

    closes = False
    bf = BloomFilter(n=100, p=0.01, window=60, clock=nosy)
    assert bf.add("x") and "x" in bf and bf.update(["x", "y"]) == 1
    closes = True
    assert bf.update(["x", "z"]) == 1
    with pytest.raises(ValueError, match="closed"):
        bf.update(["x"])


def test_a_clock_lives_as_long_as_its_filters():
    class Watch(Clock):
        pass

    watch = Watch()
    ref = weakref.ref(watch)
    bf = BloomFilter(n=100, p=0.01, window=60, clock=watch)
    twin = bf.copy()
    del watch, bf
    gc.collect()
    assert twin.add("x") and ref() is not None
    twin.__init__(n=100, p=0.01)
    gc.collect()
    assert ref() is None


def test_cycles_through_a_clock_are_collected():
    def make():
        def clock():
            return 5.0 if bf else 0.0

        bf = BloomFilter(n=100, p=0.01, window=60, clock=clock)
        return weakref.ref(bf)

    ref = make()
    gc.collect()
    assert ref() is None


def test_more_keys_than_it_is_sized_for(storage, clock):
    bf = BloomFilter(n=1000, p=0.01, window=60, storage=storage, clock=clock)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(5):
            bf.update(range(1000))
            clock.now += 15
        assert not bf.saturated and not bf.info()["saturated"] and not seen
        bf.update(range(1000, 50_000))
        assert bf.saturated and bf.info()["saturated"] and bf.fpr > 0.5
        bf.update(())  # the next call that adds warns
        assert [w.category for w in seen] == [SaturationWarning] and "n=1000" in str(
            seen[0].message
        )


def test_redis_has_the_time(redis_by_url):
    redis_by_url("FLUSHALL")
    url = redis_by_url.url("fleet")
    bf = BloomFilter(n=1000, p=1e-6, window=60, storage=url)
    bf.update(range(100))
    for ahead in (120, 86400, -120):
        with BloomFilter.open(url, clock=lambda: time.time() + ahead) as wrong:  # noqa: B023
            for call in (wrong.add, wrong.existKey):
                with pytest.raises(
                    ValueError,
                    match=rf"clock gives \d+.*, Redis has \d+.*: {'ahead' if ahead > 0 else 'behind'}",
                ):
                    call("x")
        assert sum(bf.contains_many(range(100))) == 100 and "x" not in bf
    future = BloomFilter(n=1000, p=1e-6, window=60, clock=lambda: time.time() + 1e6)
    future.add("theirs")
    bf |= future
    assert sum(bf.contains_many(range(100))) == 100 and "theirs" in bf


def test_timedelta():
    bf = BloomFilter(n=100, p=0.01, window=datetime.timedelta(days=7))
    assert bf.window == 604800.0
    assert BloomFilter.from_bytes(bf.to_bytes(), n=100).window == 604800.0
    assert BloomFilter.plan(n=100, p=0.01, window=datetime.timedelta(seconds=60))["n"] == 100
    for wrong in (datetime.timedelta(0), datetime.timedelta(days=-1)):
        with pytest.raises(ValueError, match="^window must be "):
            BloomFilter(n=100, p=0.01, window=wrong)
    for name in ("p", "grow"):  # no times
        with pytest.raises(TypeError, match=f"^{name} must be a number, not datetime.timedelta"):
            BloomFilter(**{"n": 100, "p": 0.01, name: datetime.timedelta(1)})

    class Odd:
        def total_seconds(self):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        BloomFilter(n=100, p=0.01, window=Odd())
