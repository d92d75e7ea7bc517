"""Union, intersection, equality, copies."""

import copy

import pytest

from bloomfilter import BloomFilter

pytestmark = pytest.mark.quick


def test_union_and_intersection(scheme):
    a, b = (BloomFilter(n=1000, p=0.001, scheme=scheme) for _ in range(2))
    a.update(range(300))
    b.update(range(200, 500))
    before = a.to_bytes(), b.to_bytes()
    both, common = a | b, a & b
    assert both == a.union(b) == b | a and common == a.intersection(b)
    assert all(i in both for i in range(500)) and all(i in common for i in range(200, 300))
    assert both.bitset == bytes(x | y for x, y in zip(a.bitset, b.bitset))
    assert common.bitset == bytes(x & y for x, y in zip(a.bitset, b.bitset))
    assert (a.to_bytes(), b.to_bytes()) == before


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
