"""One filter: the classic and the idiomatic calls, its state, its life, subclasses."""

import gc
import sys
import weakref

import every_call
import pytest

from bloomfilter import BloomFilter

pytestmark = pytest.mark.quick


def test_add_is_true_when_new(bf):
    assert bf.add("a") is True
    assert bf.add("a") is False
    assert bf.addKey("b") is True
    assert bf.addKey("b") is False
    assert bf.existKey("a") is True
    assert bf.existKey("z") is False
    assert "a" in bf and "z" not in bf


def test_everything_has_a_docstring():
    names = [name for name in dir(BloomFilter) if not name.startswith("_")]
    assert len(names) >= 40
    for name in names:
        assert getattr(BloomFilter, name).__doc__, name


def test_hashcode_of_many_positions():
    assert len(BloomFilter(1000, 2).hashcode("a")) == 347
    assert len(BloomFilter(m=10_000, k=4096).hashcode("a")) == 4096


def test_repr():
    assert repr(BloomFilter(1000, 100)).startswith("BloomFilter(m=1000, n=100, k=7, p=0.008")
    assert (
        repr(BloomFilter(n=1000, p=0.01))
        == "BloomFilter(m=10240, n=1000, k=6, p=0.01, scheme='block')"
    )
    closed = BloomFilter(1000, 100)
    closed.close()
    assert "closed" in repr(closed)


def test_sizeof_counts_the_bits():
    small, large = BloomFilter(m=8, k=1), BloomFilter(m=8_000_000, k=1)
    assert sys.getsizeof(large) - sys.getsizeof(small) == pytest.approx(1_000_000, abs=64)
    large.close()
    assert sys.getsizeof(large) < 1000


# What closes a filter, makes it anew or does not ask it.
NOT_ASKED = """__init__ __exit__ __repr__ __sizeof__ close from_bytes from_base64 from_json load open
    plan from_redisbloom random_secret created""".split()
ASKED = every_call.CASES.keys() - {*NOT_ASKED, "no arguments", "no bytes", "a warning"}


@pytest.mark.parametrize("name", sorted(one for one in ASKED if " of no " not in one))
def test_a_filter_that_is_closed_or_was_never_constructed_is_a_valueerror(name, tmp_path):
    every_call.set_folder(tmp_path)
    for make, call in every_call.CASES[name]:
        if hasattr(call, "refused") or make.__name__ == "given":
            continue
        closed = make()
        for bf in (closed, type(closed).__new__(type(closed))):
            bf.close()
            bf.close()
            with pytest.raises(ValueError, match="closed"):
                call(bf)


def test_a_closed_filter_does_not_take_a_batch_for_read():
    read = []
    bf = BloomFilter(1000, 10)
    bf.close()
    with pytest.raises(ValueError):
        bf.update(read.append(i) or i for i in range(10))
    assert read == []


def test_with():
    with BloomFilter(1000, 10) as bf:
        assert bf.add("a")
    with pytest.raises(ValueError, match="closed"):
        bf.add("b")
    with pytest.raises(KeyError), BloomFilter(1000, 10) as bf:
        raise KeyError
    with pytest.raises(ValueError):
        bf.m


def test_properties_are_readonly(bf):
    for name in ("m", "n", "k", "p", "scheme", "storage", "bitset", "fill_ratio", "fpr"):
        with pytest.raises(AttributeError):
            setattr(bf, name, 1)
    with pytest.raises((AttributeError, TypeError)):
        bf.other = 1


def test_constructing_again_replaces(bf):
    bf.add("a")
    bf.__init__(1000, 10)
    assert bf.m == 1000 and "a" not in bf
    with pytest.raises(ValueError):
        bf.__init__(0, 0)
    assert bf.m == 1000


def test_subclass_with_its_own_constructor():
    class Seen(BloomFilter):
        def __init__(self, name):
            super().__init__(n=1000, p=0.01)
            self.name = name

    seen = Seen("mine")
    assert seen.add("a") and seen.name == "mine" and repr(seen).startswith("Seen(")
    assert type(seen.copy()) is Seen and seen.copy().name == "mine"
    assert type(Seen.from_bytes(seen.to_bytes())) is Seen
    assert type(seen | seen) is Seen and isinstance(seen, BloomFilter)


def test_cycles_are_collected():
    class Seen(BloomFilter):
        pass

    seen = Seen(1000, 10)
    seen.self = seen
    ref = weakref.ref(seen)
    del seen
    gc.collect()
    assert ref() is None
