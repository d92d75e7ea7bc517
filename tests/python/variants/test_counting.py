"""CountingBloomFilter: removal against an exact multiset in every home, saturation, sets, bytes,
subclasses; and what plain filters say to it."""

import copy
import functools
import pickle

import numpy
import pytest

from bloomfilter import BloomFilter, CountingBloomFilter, Error
from threads import in_threads

pytestmark = pytest.mark.quick


def test_batches(scheme):
    a, b = (
        CountingBloomFilter(n=2000, p=0.001, scheme=scheme),
        CountingBloomFilter(n=2000, p=0.001, scheme=scheme),
    )
    keys = [f"k{i % 700}" for i in range(1500)]
    assert a.update(keys) == sum(b.add(key) for key in keys) and a == b and a.bitset == b.bitset
    removed = a.remove_many(iter(keys[:1000] + ["no", "none"]))
    assert list(removed) == [b.remove(key) for key in keys[:1000] + ["no", "none"]] and a == b
    assert list(a.count_many(keys)) == [b.count_of(key) for key in keys]
    numbers = numpy.arange(5000)
    c = CountingBloomFilter(n=6000, p=1e-6, scheme=scheme)
    assert c.update(numbers) == 5000 and c.remove_many(numbers) == b"\1" * 5000 and not c
    with pytest.raises(TypeError, match="key 1"):
        c.remove_many(["a", None])
    with pytest.raises(TypeError):
        c.remove_many("text")
    with pytest.raises(TypeError):
        c.remove(None)


def test_it_is_a_bloomfilter():
    bf = CountingBloomFilter(n=1000, p=0.01)
    assert isinstance(bf, BloomFilter) and issubclass(CountingBloomFilter, BloomFilter)
    plain = BloomFilter(n=1000, p=0.01)
    assert (bf.m, bf.n, bf.k, bf.p, bf.scheme) == (plain.m, plain.n, plain.k, plain.p, plain.scheme)
    assert CountingBloomFilter.plan(n=1000, p=0.01) == BloomFilter.plan(n=1000, p=0.01)
    assert bf.hashcode("x") == plain.hashcode("x") and len(bf.bitset) == (bf.m + 1) // 2
    assert repr(bf).startswith("CountingBloomFilter(m=") and not hasattr(plain, "remove")
    bf.add("x")
    for i in bf.hashcode("x"):
        assert bf.bitset[i // 2] >> (0 if i % 2 else 4) & 15 == 1
    with pytest.raises(TypeError, match="unhashable"):
        hash(bf)


def test_to_plain(scheme):
    counting, plain = (
        CountingBloomFilter(n=1000, p=0.01, scheme=scheme),
        BloomFilter(n=1000, p=0.01, scheme=scheme),
    )
    for i in range(1500):
        counting.add(i % 800)
    plain.update(range(800))
    made = counting.to_plain()
    assert (
        type(made) is BloomFilter
        and made == plain
        and made.bitset == plain.bitset
        and made.n == 1000
        and made.p == counting.p
    )
    assert (counting.fill_ratio, counting.fpr, len(counting)) == (
        plain.fill_ratio,
        plain.fpr,
        len(plain),
    )
    keyed = CountingBloomFilter(n=100, p=0.01, secret=b"0123456789abcdef")
    keyed.add("x")
    assert "x" in keyed.to_plain() and "y" not in keyed.to_plain()


def test_sets_are_those_of_multisets():
    a, b = CountingBloomFilter(n=1000, p=1e-6), CountingBloomFilter(n=1000, p=1e-6)
    a.update(["one", "both", "both"])
    b.update(["both", "two"])
    both, common = a | b, a & b
    assert [both.count_of(key) for key in ("one", "both", "two", "none")] == [1, 3, 1, 0] and type(
        both
    ) is CountingBloomFilter
    assert [common.count_of(key) for key in ("one", "both", "two")] == [0, 1, 0]
    assert (
        common <= a <= both
        and both >= b
        and a < both
        and not a < a
        and not a <= b
        and common.issubset(b)
        and both.issuperset(a)
    )
    assert a.union_count(b) == 3 and a.intersection_count(b) == 1
    assert a.update(b) == 1 and a == both
    a &= common
    assert a == common


def test_plain_and_counting_do_not_mix():
    plain, counting = BloomFilter(n=100, p=0.01), CountingBloomFilter(n=100, p=0.01)
    for call in (
        lambda: plain | counting,
        lambda: counting & plain,
        lambda: plain.update(counting),
        lambda: counting <= plain,
        lambda: plain.union_count(counting),
    ):
        with pytest.raises(ValueError, match="plain.*counting|counting.*plain"):
            call()
    assert plain != counting and not plain == counting
    with pytest.raises(Error, match="bits, not counters"):
        counting.to_bytes(format="bits")


class Seen(CountingBloomFilter):
    pass


@pytest.mark.parametrize(
    "how",
    [
        lambda b: pickle.loads(pickle.dumps(b)),
        copy.copy,
        copy.deepcopy,
        CountingBloomFilter.copy,
        lambda b: type(b).from_bytes(b.to_bytes()),
    ],
)
@pytest.mark.parametrize("kind", [CountingBloomFilter, Seen])
def test_copies_and_pickles(kind, how):
    bf = kind(n=1000, p=0.001)
    bf.update(["a", "a", "b"])
    twin = how(bf)
    assert (
        type(twin) is kind
        and twin == bf
        and twin.count_of("a") == 2
        and twin.remove("b")
        and "b" in bf
    )


def test_a_file_is_shared_with_its_pickle(tmp_path):
    with CountingBloomFilter(n=1000, p=0.001, storage=tmp_path / "a.bloom") as bf:
        bf.add("x")
        twin = pickle.loads(pickle.dumps(bf))
        assert (
            twin.remove("x")
            and "x" not in bf
            and bf.info()["home"] == "file"
            and bf.info()["counting"]
        )
        bf.sync()
        with CountingBloomFilter.open(tmp_path / "a.bloom", read_only=True) as reader:
            with pytest.raises(Error, match="read-only"):
                reader.remove("x")


def test_threads_come_and_go(tmp_path):
    bf = CountingBloomFilter(n=20_000, p=1e-6, storage=tmp_path / "t.bloom")
    missed = []

    def work(name):
        mine = numpy.array([f"{name}-{i}".encode() for i in range(3000)])
        for _ in range(3):
            bf.update(mine)
            missed.append(bytes(bf.contains_many(mine)).count(0))
            missed.append(bytes(bf.remove_many(mine)).count(0))
        bf.update(mine)

    in_threads(*(functools.partial(work, name) for name in "abcd"))
    alone = CountingBloomFilter(n=20_000, p=1e-6)
    alone.update(f"{name}-{i}" for name in "abcd" for i in range(3000))
    assert not any(missed) and bf == alone


def test_closed():
    bf = CountingBloomFilter(100, 10)
    bf.close()
    for call in (
        lambda: bf.remove("x"),
        lambda: bf.count_of("x"),
        lambda: bf.remove_many(["x"]),
        bf.to_plain,
        bf.info,
    ):
        with pytest.raises(ValueError, match="closed"):
            call()


def test_never_initialised():
    bf = CountingBloomFilter.__new__(CountingBloomFilter)
    with pytest.raises(ValueError, match="closed"):
        bf.remove("x")
