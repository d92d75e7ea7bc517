"""CountingBloomFilter: removal against an exact multiset in every home, saturation, sets, bytes,
subclasses; and what plain filters say to it."""

import pytest

from bloomfilter import BloomFilter, CountingBloomFilter

pytestmark = pytest.mark.quick


def test_it_is_a_bloomfilter():
    bf, plain = CountingBloomFilter(n=1000, p=0.01), BloomFilter(n=1000, p=0.01)
    assert isinstance(bf, BloomFilter) and not hasattr(plain, "remove")
    assert (bf.m, bf.n, bf.k, bf.p, bf.scheme) == (plain.m, plain.n, plain.k, plain.p, plain.scheme)
    assert repr(bf).startswith("CountingBloomFilter(m=")
    bf.add("x")
    for i in bf.hashcode("x"):
        assert bf.bitset[i // 2] >> (0 if i % 2 else 4) & 15 == 1
    with pytest.raises(TypeError, match="key 1"):
        bf.remove_many(["a", None])
    for wrong in (None, 1.5):
        with pytest.raises(TypeError):
            bf.remove(wrong)
    with pytest.raises(TypeError):
        bf.remove_many("text")
    for closed in (bf, CountingBloomFilter.__new__(CountingBloomFilter)):
        closed.close()
        for call, *keys in (
            (closed.remove, "x"),
            (closed.count_of, "x"),
            (closed.remove_many, ["x"]),
            (closed.count_many, ["x"]),
            (closed.to_plain,),
            (closed.info,),
        ):
            with pytest.raises(ValueError, match="closed"):
                call(*keys)


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
