"""update, add_many, contains_many over Python objects: every kind of iterable, and iterables that
misbehave."""

import itertools
import mmap
import sys

import numpy as np
import pytest
from names import plain
from one_by_one import check

from bloomfilter import BloomFilter

pytestmark = pytest.mark.quick

SIZES = [0, 1, 64, 65, 511, 512, 513, 5000]


def words(n, start=0):
    return [f"https://example.org/{i}" for i in range(start, start + n)]


SHAPES = {
    "list": list,
    "tuple": tuple,
    "iter": iter,
    "generator": lambda keys: (key for key in keys),
    "dict": dict.fromkeys,
    "map": lambda keys: map(str, keys),
    "chain": lambda keys: itertools.chain(keys[:7], keys[7:]),
    "values": lambda keys: dict(enumerate(keys)).values(),
    "subclass": lambda keys: type("L", (list,), {})(keys),
    "object array": lambda keys: np.array(keys, dtype=object),
    "U array": lambda keys: np.array(keys, dtype="U40"),
}


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: s)
@pytest.mark.parametrize("n", SIZES)
def test_every_iterable_of_every_size(shape, n):
    keys, make = words(n), SHAPES[shape]
    check(lambda: make(keys), keys)


@pytest.mark.parametrize("shape", [list, tuple, iter])
def test_mixed_keys_keep_their_order(shape):
    mixed = [5, bytearray(b"x"), "é" * 300, memoryview(b"yz"), np.int16(9), 10**30]
    keys = [*words(300), *mixed, *words(300, 300), "日" * 20_000, b""] * 3
    check(lambda: shape(keys), keys)


@pytest.mark.parametrize("one", ["abc", b"abc", bytearray(b"abc"), memoryview(b"abc"), "", b"", np.str_("abc"), np.bytes_(b"abc"), type("S", (str,), {})("abc"),
                                 memoryview(b"ab").cast("c"), mmap.mmap(-1, 8)], ids=plain)  # fmt: skip
def test_one_key_where_many_are_meant(bf, one):
    for call in (bf.update, bf.add_many, bf.contains_many):
        with pytest.raises(TypeError, match="iterable of keys"):
            call(one)
        for wrong in (5, None, 1.5, object(), np.array(5)):
            with pytest.raises(TypeError):
                call(wrong)
    assert not bf


def test_what_an_iterator_raises_comes_out(bf):
    def keys():
        yield from words(700)
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        bf.update(keys())
    assert bf.contains_many(words(700)) == b"\1" * 700
    with pytest.raises(LookupError, match="mine"):
        bf.contains_many(keys())

    class Broken:
        def __iter__(self):
            raise LookupError("mine")

    with pytest.raises(LookupError):
        bf.add_many(Broken())


def test_wrong_length_hints(bf):
    class Hint:
        def __init__(self, hint):
            self.hint = hint

        def __length_hint__(self):
            return self.hint

        def __iter__(self):
            return iter(words(1000))

    for hint in (0, 1, 999, 10**6, sys.maxsize // 2):
        assert len(bf.add_many(Hint(hint))) == 1000
    with pytest.raises(ValueError):
        bf.add_many(Hint(-1))


def test_generators_are_read_in_chunks(bf):
    alive, most = 0, 0

    class Key(str):
        def __init__(self, _):
            nonlocal alive, most
            alive += 1
            most = max(most, alive)

        def __del__(self):
            nonlocal alive
            alive -= 1

    assert bf.update(Key(word) for word in words(5000)) > 4990
    assert alive == 0 and most < 1000


class Acts:
    """An int that does something when it is asked for its value."""

    def __init__(self, what):
        self.what = what

    def __index__(self):
        self.what()
        return 7


def test_a_list_that_changes_while_it_is_read(bf):
    for change in (
        "keys.clear()",
        "keys.__delitem__(slice(10, None))",
        "keys.extend(['more'] * 3)",
        "keys.__setitem__(slice(None), [])",
    ):
        keys = words(200)
        keys.insert(100, Acts(lambda change=change, keys=keys: eval(change)))
        bf.update(keys)
        assert bf.contains_many(words(100)) == b"\1" * 100 and 7 in bf


def test_a_key_that_changes_another(bf):
    target = bytearray(b"x" * 1000)
    assert bf.add_many([target, Acts(target.clear), target]) == b"\1\1\1"
    assert b"x" * 1000 in bf and b"" in bf


def test_a_set_that_changes_while_it_is_read(bf):
    keys = {Acts(lambda: keys.add(object())), "a"}
    with pytest.raises((RuntimeError, TypeError)):
        bf.update(keys)


@pytest.mark.parametrize("at", [0, 5, 255, 256, 999, 1000, 2500])
def test_a_bad_key_says_which(at):
    """By number, not only in the sentence: whatever the keys come in."""
    keys = [b"%d" % i for i in range(3000)]
    wrong = [*keys[:at], b"\xff", *keys[at:]]
    lines = b"\n".join(wrong)
    java = BloomFilter(m=1 << 20, scheme="java7")
    for call, given, kind in (
        (java.update_lines, lines, ValueError),
        *((java.update, shape(wrong), ValueError) for shape in (list, tuple, iter, np.array)),
        (java.contains_many, (key for key in [*keys[:at], None, *keys[at:]]), TypeError),
    ):
        with pytest.raises(kind, match=f"^key {at}: ") as fault:
            call(given)
        assert fault.value.index == at
        assert all(java.contains_many(keys[:at])) and keys[-1] not in java
    with pytest.raises(ValueError) as fault:
        java.add(b"\xff")
    assert not hasattr(fault.value, "index")
