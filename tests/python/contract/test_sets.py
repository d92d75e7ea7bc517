"""Union, intersection, equality, copies."""

import copy

import pytest

from bloomfilter import BloomFilter

pytestmark = pytest.mark.quick


def pair(scheme="block"):
    a, b = BloomFilter(n=1000, p=0.001, scheme=scheme), BloomFilter(n=1000, p=0.001, scheme=scheme)
    a.update(range(300))
    b.update(range(200, 500))
    return a, b


def test_union(scheme):
    a, b = pair(scheme)
    before = a.to_bytes(), b.to_bytes()
    both = a | b
    assert both == a.union(b) == b | a
    assert all(i in both for i in range(500)) and (a.to_bytes(), b.to_bytes()) == before
    assert both.bitset == bytes(x | y for x, y in zip(a.bitset, b.bitset))


def test_intersection(scheme):
    a, b = pair(scheme)
    both = a & b
    assert both == a.intersection(b)
    assert all(i in both for i in range(200, 300))
    assert both.bitset == bytes(x & y for x, y in zip(a.bitset, b.bitset))


def test_in_place():
    a, b = pair()
    union, intersection, same = a | b, a & b, a
    a |= b
    assert a is same and a == union
    a, b = pair()
    same = a
    a &= b
    assert a is same and a == intersection


def test_with_itself():
    a, _ = pair()
    before = a.bitset
    a |= a
    a &= a
    assert a.bitset == before and a == a and (a | a) == a


def test_large_filters_are_combined_without_the_gil():
    a, b = BloomFilter(m=20_000_000, k=5), BloomFilter(m=20_000_000, k=5)
    a.update(range(10_000))
    b.update(range(5000, 15_000))
    both = a | b
    assert min(both.contains_many(range(15_000))) == 1 and both == b | a and both != a
    common = a & b
    assert min(common.contains_many(range(5000, 10_000))) == 1
    assert abs(len(both) - 15_000) < 100 and len(both.bitset) == 2_500_000
    both.clear()
    assert not both


def test_something_else_is_a_typeerror(bf):
    for other in (None, 1, "abc", set(), object()):
        for call in (bf.union, bf.intersection):
            with pytest.raises(TypeError):
                call(other)
        assert bf.__or__(other) is NotImplemented and bf.__iand__(other) is NotImplemented
        for operation in ("bf | other", "bf & other", "other | bf", "other & bf"):
            with pytest.raises(TypeError):
                eval(operation)


def test_operators_leave_the_other_type_its_turn(bf):
    class Other:
        def __ror__(self, left):
            return "mine"

        def __eq__(self, other):
            return True

    assert bf | Other() == "mine"
    assert bf == Other()


def test_equality(bf):
    same = BloomFilter(n=10_000, p=0.001)
    assert bf == same and not bf != same
    bf.add("a")
    assert bf != same and not bf == same
    same.add("a")
    assert bf == same
    assert bf != BloomFilter(n=2000, p=0.001) and bf != 1 and not bf == None  # noqa: E711


def test_unhashable(bf):
    with pytest.raises(TypeError, match="unhashable"):
        hash(bf)


@pytest.mark.parametrize(
    "how", [BloomFilter.copy, copy.copy, copy.deepcopy], ids=["method", "copy", "deepcopy"]
)
def test_copies_are_independent(bf, how):
    bf.update(range(100))
    twin = how(bf)
    assert twin == bf and twin is not bf and twin.n == bf.n and twin.p == bf.p
    twin.add("only here")
    assert "only here" not in bf
    bf.close()
    assert 5 in twin


def test_copies_carry_what_a_subclass_keeps():
    class Seen(BloomFilter):
        pass

    seen = Seen(1000, 10)
    seen.tags = ["a"]
    assert copy.copy(seen).tags is seen.tags
    deep = copy.deepcopy(seen)
    assert deep.tags == ["a"] and deep.tags is not seen.tags


def test_a_deep_copy_of_a_circle_is_a_circle():
    class Node(BloomFilter):
        pass

    node = Node(1000, 10)
    node.me, node.others = node, [{"owner": node}]
    node.add("x")
    deep = copy.deepcopy(node)
    assert (
        deep is not node and deep.me is deep and deep.others[0]["owner"] is deep and "x" in deep.me
    )
    whole = copy.deepcopy([node, node.others, node])
    assert whole[0] is whole[2] and whole[1][0]["owner"] is whole[0]
    assert copy.copy(node).me is node
    assert BloomFilter(1000, 10).__deepcopy__({}) == BloomFilter(1000, 10)
    assert BloomFilter(1000, 10).__deepcopy__(None) == BloomFilter(1000, 10)
    for memo in [], (), 1, "memo":
        with pytest.raises(
            TypeError,
            match=f"memo must be the dict that copy.deepcopy.. gives, got {type(memo).__name__}",
        ):
            BloomFilter(1000, 10).__deepcopy__(memo)
