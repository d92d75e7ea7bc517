"""Union, intersection, equality, copies."""

import copy

import pytest

from bloomfilter import BloomFilter

pytestmark = pytest.mark.quick


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


def test_unhashable(bf):
    with pytest.raises(TypeError, match="unhashable"):
        hash(bf)


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
