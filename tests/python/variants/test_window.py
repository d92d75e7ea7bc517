"""Filters that forget, under a clock of the test's."""

import datetime
import gc
import weakref

import pytest

from bloomfilter import BloomFilter

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
        (10**400, ValueError),
        (-1e300, ValueError),
    ):
        with pytest.raises(error):
            BloomFilter(n=100, p=0.01, window=60, clock=lambda wrong=wrong: wrong).add("x")
    for wrong in (5, "time"):
        with pytest.raises(TypeError):
            BloomFilter(n=100, p=0.01, window=60, clock=wrong)


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
