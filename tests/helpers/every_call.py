"""Every method of a filter, called as it is meant to be and otherwise: for the tests that do the same
with each of them.  Holds no test."""

import copy
import sys

import numpy as np
from arrow_producer import Column, text

from bloomfilter import BloomFilter, CountingBloomFilter, _bloomfilter

MANY = ["a", "é" * 300, b"x", bytearray(b"y"), 5, 10**30, np.int8(3), "日" * 3000] * 3
NULLS = np.array(["a", None, "b"] * 30, object)
HASHES = np.arange(9, dtype=np.uint64)


class Raises:
    def __index__(self):
        raise LookupError


def tried(call, *given):
    """With each of them; only what these may raise."""
    for one in given:
        try:
            call(**one) if isinstance(one, dict) else call(one)
        except (ValueError, TypeError, LookupError, OSError):
            pass


BAD = [None, 1.5, "\ud800", np.zeros(2), object(), [], Raises(), [*MANY, Raises()], 5, "abc"]
WRONG = [
    {"n": 0, "p": 0.1},
    {"n": 10**30, "p": 0.1},
    {"n": "x"},
    {"n": 10, "p": 0.1, "secret": bytes(3)},
    {"storage": "/no/such/x"},
]


def filled(kind=BloomFilter, **more):
    bf = kind(n=100, p=0.01, **more)
    bf.update(range(50))
    return bf


def of_hashes():
    bf = BloomFilter(n=100, p=0.01, scheme="hashes64")
    bf.add_hashes(HASHES[:5])
    return bf


class Sub(BloomFilter):
    __slots__ = ("more",)


def sub():
    bf = filled(Sub)
    bf.more = 1
    return bf


class Given(BloomFilter):
    """With a column that was made before memory runs out."""


class Capsules:
    def __init__(self, pair):
        self.pair = pair

    def __arrow_c_array__(self):
        return self.pair


def with_column(column):
    def given():
        bf = filled(Given)
        bf.given = Capsules(column.__arrow_c_array__())
        return bf

    return given


DICTIONARY = Column(b"i", 2, [b"\1", b"\0" * 8], dictionary=text([b"a"]), nulls=1)


def hash_of(key):
    return len(key)


# Made before memory runs out: CPython 3.13 crashes where it has none for a new function.
def five():
    return 5.0


FILES, SAVED = [], []


def set_folder(folder):
    """Where the filters in files are made from now on."""
    FILES[:], SAVED[:] = [folder], [f"{folder}/saved"]
    OTHER.save(SAVED[0])


def fresh():
    FILES.append(None)
    return f"{FILES[0]}/{len(FILES)}"


def stored():
    return filled(storage=fresh())


def refused(run):
    """Raises where memory suffices, too."""
    run.refused = True
    return run


OTHER = filled()
OTHERS, DATA = [OTHER, BloomFilter(10, 1), None], OTHER.to_bytes()
TEXT, JSON = OTHER.to_base64(), OTHER.to_json()
# fmt: off
# name of the member -> [(maker, call)]
CASES = {
    "add": [(filled, lambda bf: [bf.add(key) for key in MANY])],
    "addKey": [(filled, lambda bf: bf.addKey("é"))],
    "existKey": [(filled, lambda bf: list(map(bf.existKey, MANY)))],
    "__contains__": [(filled, lambda bf: [key in bf for key in MANY])],
    "hashcode": [(filled, lambda bf: list(map(bf.hashcode, MANY)))],
    **{f"{name} of no key": [(filled, lambda bf, name=name: tried(getattr(bf, name), *BAD))]
       for name in "add existKey hashcode __contains__ update add_many contains_many".split()},
    **{f"{name} of no filter": [(filled, lambda bf, name=name: tried(getattr(bf, name), *OTHERS))]
       for name in "union intersection __or__ __iand__ __eq__".split()},
    "no arguments": [(filled, lambda bf, call=call: tried(call, *WRONG))
       for call in (BloomFilter, BloomFilter.plan, BloomFilter.open)],
    "no bytes": [(filled, lambda bf: tried(BloomFilter.from_bytes, DATA[:-1], 5, DATA + b"x", b""))],
    "update": [
        (filled, lambda bf: bf.update(MANY)),
        (filled, lambda bf: bf.update(iter(MANY))),
        (filled, lambda bf: bf.update(np.array(["a", "é"]))),
        (filled, lambda bf: bf.update(NULLS, nulls="skip")),
        (filled, refused(lambda bf: bf.update(NULLS))),
        (filled, refused(lambda bf: bf.update([None]))),
        (filled, refused(lambda bf: bf.update(["\ud800"]))),
        (filled, lambda bf: bf.update(OTHER)),
    ],
    "add_many": [
        (filled, lambda bf: bf.add_many(MANY)),
        (with_column(text([b"a", b"b"])), lambda bf: bf.add_many(bf.given)),
        (with_column(Column(b"f", 1, [None, b"\0" * 4])), refused(lambda bf: bf.add_many(bf.given))),
        (with_column(DICTIONARY), lambda bf: bf.add_many(bf.given, nulls="skip")),
    ],
    "add_mask": [(filled, lambda bf: bf.add_mask(MANY))],
    "contains_mask": [(filled, lambda bf: bf.contains_mask(MANY))],
    "add_hashes": [(of_hashes, lambda bf: bf.add_hashes(HASHES[::-1]))],
    "add_hashes_mask": [(of_hashes, lambda bf: bf.add_hashes_mask(HASHES))],
    "contains_hashes": [
        (of_hashes, lambda bf: bf.contains_hashes(HASHES)),
        (of_hashes, refused(lambda bf: bf.contains_hashes(MANY))),
    ],
    "contains_hashes_mask": [(of_hashes, lambda bf: bf.contains_hashes_mask(HASHES))],
    "contains_many": [(filled, lambda bf: bf.contains_many(iter(MANY)))],
    "update_lines": [(filled, lambda bf: bf.update_lines(b"a\nb\n", keep=True))],
    "contains_lines": [(filled, lambda bf: bf.contains_lines(b"a\nb\n", keep=False))],
    "union": [(filled, lambda bf: bf.union(OTHER))],
    "intersection": [(filled, lambda bf: bf.intersection(OTHER))],
    "issubset": [(filled, lambda bf: bf.issubset(OTHER))],
    "issuperset": [(filled, lambda bf: bf.issuperset(OTHER))],
    "union_count": [(filled, lambda bf: bf.union_count(OTHER))],
    "intersection_count": [(filled, lambda bf: bf.intersection_count(OTHER))],
    "__or__": [(filled, lambda bf: bf | OTHER), (filled, refused(lambda bf: bf | 5))],
    "__and__": [(filled, lambda bf: bf & OTHER)],
    "__ior__": [(filled, lambda bf: bf.__ior__(OTHER))],
    "__iand__": [(filled, lambda bf: bf.__iand__(OTHER))],
    "__eq__": [(filled, lambda bf: bf == OTHER)],
    "__len__": [(filled, len)],
    "__bool__": [(filled, bool)],
    "__repr__": [(filled, repr), (stored, repr),
        (lambda: filled(grow=2.0), repr), (lambda: filled(window=5.5), repr)],
    "__sizeof__": [(filled, sys.getsizeof)],
    "__init__": [
        (filled, lambda bf: bf.__init__(100, 10)),
        (filled, lambda bf: BloomFilter(n=5, p=0.1, secret=bytes(16))),
        (filled, lambda bf: BloomFilter(n=5, p=0.1, clock=five, window=3)),
        (filled, lambda bf: BloomFilter(m=100, hashes=[hash_of, hash_of])),
        (filled, lambda bf: BloomFilter(n=5, p=0.1, grow=2)),
        (filled, lambda bf: BloomFilter(n=5, p=0.1, storage=fresh())),
        (filled, refused(lambda bf: BloomFilter(n=0, p=0.1))),
        (filled, refused(lambda bf: BloomFilter(n="x"))),
    ],
    "info": [(filled, lambda bf: bf.info()), (stored, lambda bf: bf.info())],
    "part_info": [(lambda: filled(grow=2.0), lambda bf: bf.part_info()),
        (lambda: filled(window=50), lambda bf: bf.part_info())],
    "copy": [(filled, lambda bf: bf.copy()), (sub, lambda bf: bf.copy())],
    "__copy__": [(filled, copy.copy)],
    "__deepcopy__": [(sub, copy.deepcopy)],
    "clear": [(filled, lambda bf: bf.clear()), (stored, lambda bf: bf.clear())],
    "to_bytes": [(filled, lambda bf: bf.to_bytes()), (filled, lambda bf: bf.to_bytes(format="bits"))],
    "from_bytes": [(filled, lambda bf: BloomFilter.from_bytes(DATA)),
        (filled, refused(lambda bf: BloomFilter.from_bytes(DATA[:-1])))],
    "save": [(filled, lambda bf: bf.save(fresh()))],
    "to_base64": [(filled, lambda bf: bf.to_base64())],
    "from_base64": [(filled, lambda bf: BloomFilter.from_base64(TEXT))],
    "to_json": [(filled, lambda bf: bf.to_json())],
    "from_json": [(filled, lambda bf: BloomFilter.from_json(JSON))],
    "to_redisbloom": [(filled, refused(lambda bf: bf.to_redisbloom("a path")))],
    "from_redisbloom": [(filled, refused(lambda bf: BloomFilter.from_redisbloom("a path")))],
    "_save_new": [(filled, lambda bf: bf._save_new(fresh()))],
    "load": [(filled, lambda bf: BloomFilter.load(SAVED[0]))],
    "open": [(filled, lambda bf: BloomFilter.open(SAVED[0])),
        (filled, lambda bf: _bloomfilter._open(SAVED[0]))],
    "random_secret": [(filled, lambda bf: bf.random_secret())],
    "plan": [(filled, lambda bf: bf.plan(n=100, p=0.01))],
    "expire": [(filled, refused(lambda bf: bf.expire(5)))],
    "_expires_in": [(filled, lambda bf: bf._expires_in())],
    "delete": [(filled, refused(lambda bf: bf.delete()))],
    "rebuild": [(filled, lambda bf: bf.rebuild(MANY)), (stored, lambda bf: bf.rebuild(MANY))],
    "sync": [(stored, lambda bf: bf.sync())],
    "close": [(filled, lambda bf: bf.close()), (stored, lambda bf: bf.close())],
    "__enter__": [(filled, lambda bf: bf.__enter__())],
    "__exit__": [(filled, lambda bf: bf.__exit__())],
    "__reduce__": [(filled, lambda bf: bf.__reduce__()), (sub, lambda bf: bf.__reduce__()),
        (stored, lambda bf: bf.__reduce__()),
        (lambda: filled(secret=bytes(16)), refused(lambda bf: bf.__reduce__()))],
    **{name: [(filled, lambda bf, name=name: getattr(bf, name)),
              (stored, lambda bf, name=name: getattr(bf, name))] for name in (
        "m n k p grow window parts scheme storage created is_current shards bitset fill_ratio saturated fpr".split())},
    "remove": [(lambda: filled(CountingBloomFilter), lambda bf: bf.remove("é"))],
    "remove_many": [(lambda: filled(CountingBloomFilter), lambda bf: bf.remove_many(MANY))],
    "count_of": [(lambda: filled(CountingBloomFilter), lambda bf: bf.count_of("é"))],
    "count_many": [(lambda: filled(CountingBloomFilter), lambda bf: bf.count_many(MANY))],
    "to_plain": [(lambda: filled(CountingBloomFilter), lambda bf: bf.to_plain())],
    "a warning": [(lambda: filled(warn=True), lambda bf: (bf.update(range(1000)), bf.add("é")))],
}
# fmt: on
FROM_OBJECT = {*dir(object), "__module__", "__weaklistoffset__"}
FROM_OBJECT -= {"__init__", "__eq__", "__repr__", "__sizeof__", "__reduce__"}
SAME = set("__ne__ __le__ __lt__ __ge__ __gt__ __ror__ __rand__".split())  # as __eq__, __or__
PUBLIC = {name for kind in (BloomFilter, CountingBloomFilter) for name in dir(kind)}
LEFT_OUT = PUBLIC - FROM_OBJECT - SAME - CASES.keys()
assert not LEFT_OUT, LEFT_OUT
