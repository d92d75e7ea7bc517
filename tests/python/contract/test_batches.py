"""update, add_many, contains_many over Python objects: every kind of iterable, and iterables that
misbehave."""

import itertools
import mmap
import sys

import numpy as np
import pytest
from names import plain

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
def test_every_iterable_of_every_size(bf, shape, n):
    keys, make = words(n), SHAPES[shape]
    one_by_one = BloomFilter(n=10_000, p=0.001)
    expected = bytes(one_by_one.add(key) for key in keys)
    assert bf.contains_many(make(keys)) == bytes(n)
    assert bf.add_many(make(keys)) == expected
    assert bf == one_by_one
    assert bf.contains_many(make(keys)) == b"\1" * n
    assert bf.update(make(keys)) == 0
    other = BloomFilter(n=10_000, p=0.001)
    assert other.update(make(keys)) == sum(expected) and other == bf


def test_mixed_keys_keep_their_order(bf):
    keys = [
        *words(300),
        5,
        bytearray(b"x"),
        "é" * 300,
        memoryview(b"yz"),
        np.int16(9),
        10**30,
        *words(300, 300),
        "日" * 20_000,
        b"",
    ] * 3
    expected = bytes(
        BloomFilter.add(one, key) for one in [BloomFilter(n=10_000, p=0.001)] for key in keys
    )
    assert bf.add_many(keys) == expected
    for shape in (iter, tuple):
        assert BloomFilter(n=10_000, p=0.001).add_many(shape(keys)) == expected


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


@pytest.mark.parametrize(
    "shape",
    [list, tuple, iter, lambda keys: (key for key in keys)],
    ids=["list", "tuple", "iter", "generator"],
)
@pytest.mark.parametrize("place", [0, 1, 64, 511, 512, 700])
def test_keys_before_a_bad_one_are_added(bf, shape, place):
    keys = [*words(place), 1.5, *words(100, 1000)]
    with pytest.raises(TypeError, match=f"^key {place}: .*float"):
        bf.update(shape(keys))
    assert bf.contains_many(keys[:place]) == b"\1" * place
    assert bf.contains_many(keys[place + 1 :]) == bytes(100)
    with pytest.raises(TypeError, match=f"^key {place}: "):
        bf.contains_many(shape(keys))


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


def test_an_iterable_that_uses_the_filter(bf):
    def keys():
        for word in words(3000):
            assert bf.add("inner " + word) is True
            yield word
            assert len(bf.contains_many([word])) == 1

    assert bf.update(keys()) > 2990
    assert bf.contains_many(words(3000)) == b"\1" * 3000


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
    lines = b"\n".join([*keys[:at], b"\xff", *keys[at:]])
    java = BloomFilter(m=1 << 20, scheme="java7")
    for call, given, kind in (
        (java.update_lines, lines, ValueError),
        (java.update, [*keys[:at], b"\xff", *keys[at:]], ValueError),
        (java.add_many, np.array([*keys[:at], b"\xff", *keys[at:]]), ValueError),
        (java.contains_many, (key for key in [*keys[:at], None, *keys[at:]]), TypeError),
    ):
        with pytest.raises(kind, match=f"^key {at}: ") as fault:
            call(given)
        assert fault.value.index == at
        assert at == 0 or keys[at - 1] in java
    with pytest.raises(ValueError) as fault:
        java.add(b"\xff")
    assert not hasattr(fault.value, "index")
