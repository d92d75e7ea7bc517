"""One warning when more than half of the bits are set; saturated; info()."""

import copy
import io
import pickle
import warnings

import numpy
import pytest

from bloomfilter import BloomFilter, CountingBloomFilter, Error, FullError, SaturationWarning


@pytest.fixture
def seen(recwarn):
    warnings.simplefilter("always")
    return lambda: [w for w in recwarn.list if w.category is SaturationWarning]


@pytest.mark.parametrize("kind", [BloomFilter, CountingBloomFilter])
def test_one_warning_that_points_at_the_add(kind, seen):
    bf = kind(n=1000, p=0.01)
    for i in range(4000):
        bf.add(i)
    (said,) = seen()
    assert bf.saturated and said.filename == __file__ and "n=1000" in str(said.message)
    assert ("counters" in str(said.message)) == (kind is CountingBloomFilter)


CALLS = {
    "add": lambda bf, keys: [bf.add(key) for key in keys],
    "update": BloomFilter.update,
    "add_many": BloomFilter.add_many,
    "add_mask": BloomFilter.add_mask,
    "a generator": lambda bf, keys: bf.update(key for key in keys),
    "numpy": lambda bf, keys: bf.update(numpy.array(keys)),
    "lines": lambda bf, keys: bf.update_lines(b"".join(b"%d\n" % key for key in keys)),
    "a filter": lambda bf, keys: bf.update(filled(bf, keys)),
    "|=": lambda bf, keys: bf.__ior__(filled(bf, keys)),
}


def filled(like, keys):
    other = like.copy()
    other.clear()
    other.update(keys)
    return other


@pytest.mark.parametrize("storage", [None, "f.bloom"])
@pytest.mark.parametrize("kind", [BloomFilter, CountingBloomFilter])
@pytest.mark.parametrize("way", CALLS)
def test_as_an_error_nothing_was_added(way, kind, storage, tmp_path):
    """So the program can repeat the call, and its answers are true."""
    bf = kind(n=100, p=0.01, storage=storage and tmp_path / storage)
    with warnings.catch_warnings():
        warnings.simplefilter("error", SaturationWarning)
        for i in range(0, 2000, 10):
            keys = list(range(i, i + (1 if way == "add" else 10)))
            before = bf.bitset
            try:
                CALLS[way](bf, keys)
            except SaturationWarning:
                break
        assert i > 100 and bf.bitset == before
        CALLS[way](bf, keys)
        assert all(bf.contains_many(keys)) and bf.bitset != before
        CALLS[way](bf, list(range(5000, 5100)))  # warned once


def test_the_handler_uses_it():
    for way in CALLS:
        bf, said = BloomFilter(n=100, p=0.01), []

        def show(*args, bf=bf, said=said, **kwargs):
            said.append(len(bf))
            bf.add("shown")
            with pytest.raises(Error, match="cannot replace"):
                bf.__init__(n=1, p=0.1)

        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = show
            for i in range(0, 1000, 10):
                CALLS[way](bf, list(range(i, i + 10)))
        assert len(said) == 1 and said[0] > 100 and "shown" in bf, way


def test_the_handler_closes_it():
    """The call that warned goes on; the next one finds the filter closed."""
    for way in CALLS:
        bf = BloomFilter(n=100, p=0.01)
        with warnings.catch_warnings(), pytest.raises(ValueError, match="closed"):
            warnings.simplefilter("always")
            warnings.showwarning = lambda *args, bf=bf, **kwargs: bf.close()
            for i in range(0, 1000, 10):
                CALLS[way](bf, list(range(i, i + 10)))


# Not stored, so whoever reads a filter says it; a pickle is a copy of the object and carries it.
WAYS = {
    "from_bytes": lambda bf, path, how: type(bf).from_bytes(bf.to_bytes(), **how),
    "from_base64": lambda bf, path, how: type(bf).from_base64(bf.to_base64(), **how),
    "bits": lambda bf, path, how: type(bf).from_bytes(
        bf.bitset, format="bits", **bits_of(bf), **how
    ),
    "load": lambda bf, path, how: bf.save(path) or type(bf).load(path, **how),
    "stream": lambda bf, path, how: type(bf).load(io.BytesIO(bf.to_bytes()), **how),
    "open": lambda bf, path, how: bf.save(path) or type(bf).open(path, **how),
    "pickle": lambda bf, path, how: pickle.loads(
        pickle.dumps(type(bf).from_bytes(bf.to_bytes(), **how))
    ),
    "pickle of a file": lambda bf, path, how: (
        bf.save(path) or pickle.loads(pickle.dumps(type(bf).open(path, **how)))
    ),
    "deepcopy": lambda bf, path, how: copy.deepcopy(type(bf).from_bytes(bf.to_bytes(), **how)),
}


def bits_of(bf):
    return {"m": bf.m, "n": bf.n, "k": bf.k, "scheme": bf.scheme}


class Own(BloomFilter):
    """Pickled by from_bytes of its class."""


@pytest.mark.parametrize(
    "way, kind",
    [
        (way, kind)
        for way in WAYS
        for kind in (BloomFilter, Own, CountingBloomFilter)
        if way != "bits" or kind is not CountingBloomFilter  # which has no bits
    ],
)
def test_what_is_read(way, kind, seen, tmp_path):
    bf = kind(n=1000, p=0.01, overfull="ignore")
    bf.update(range(3000))
    for number, (how, warned) in enumerate({None: 1, "warn": 1, "ignore": 0, "raise": 0}.items()):
        before = len(seen())
        twin = WAYS[way](bf, tmp_path / str(number), {} if how is None else {"overfull": how})
        assert type(twin) is kind and len(twin) == len(bf)
        if how == "raise":
            with pytest.raises(FullError, match="n=1000"):
                twin.update(range(3000, 4000))
            assert not any(twin.add(i) for i in range(3000))  # an add is a test
        else:
            twin.update(range(3000, 4000))
        assert len(seen()) - before == warned, how
        twin.close()


BATCHES = [
    BloomFilter.update,
    BloomFilter.add_many,
    lambda bf, keys: bf.update(str(i) for i in keys),
    lambda bf, keys: bf.update(numpy.fromiter(keys, dtype=int)),
]


@pytest.mark.parametrize("call", [*BATCHES, None])
def test_raise(call, seen):
    """The class of the error, and the key that it names; when: tests/c/test_overfull.c."""
    bf = BloomFilter(n=1000, p=0.01, overfull="raise")
    with pytest.raises(FullError, match="is full: it holds the n=1000 keys") as caught:
        if call:
            call(bf, range(4000))
        for i in range(4000):
            bf.add(i)
    keys = caught.value.index if call else i
    assert isinstance(caught.value, Error) and all(bf.contains_many(range(keys))) and keys not in bf
    for again in (
        bf.add,
        lambda _: bf.copy().update(range(4000)),
        lambda _: bf.rebuild(range(4000)),
    ):
        with pytest.raises(FullError):
            again(keys)
    assert bf.add(0) is False and not seen()  # an add is a test


def test_ignore_and_warn(seen, tmp_path):
    for how in ({"overfull": "ignore"}, {"warn": False}, {"overfull": "ignore", "warn": True}):
        BloomFilter(n=100, p=0.01, **how).update(range(1000))
    assert not seen()
    path = tmp_path / "f.bloom"
    for how in ({}, {"overfull": "warn"}, {"overfull": None}, {"overfull": "warn", "warn": False}):
        with BloomFilter(n=100, p=0.01, storage=path, **how) as bf:
            bf.update(range(1000))
            bf.update(())
        path.unlink()
        assert len(seen()) == 1 and str(seen()[0].message).endswith('or pass overfull="ignore"')
        seen()[0].category = None
    with pytest.raises(TypeError, match="overfull must be"):
        BloomFilter(n=100, p=0.01, overfull=True)


def test_info(tmp_path):
    bf = BloomFilter(n=1000, p=0.01)
    bf.update(range(500))
    info, same = bf.info(), "m k fill_ratio fpr saturated".split()
    assert {name: info.pop(name) for name in same} == {name: getattr(bf, name) for name in same}
    assert info.pop("ones") == sum(map(int.bit_count, bf.bitset))
    assert info.pop("bytes") == len(bf.bitset) and info.pop("count") == len(bf)
    assert info.pop("parts") == bf.part_info() and info.pop("scheme") == "block"
    given = {"n": 1000, "p": 0.01, "home": "memory", "storage": None, "key": None, "shards": 1}
    off = {"counting": False, "keyed": False, "read_only": False, "grow": 0.0, "window": 0.0}
    assert info == given | off
    path = tmp_path / "f.bloom"
    counting = CountingBloomFilter(n=10, p=0.01, storage=path, secret=b"0123456789abcdef")
    counting.update(range(100))
    reader = CountingBloomFilter.open(path, read_only=True, secret=b"0123456789abcdef")
    info = reader.info()
    assert [
        info[name] for name in ("home", "storage", "counting", "keyed", "read_only", "saturated")
    ] == ["file", str(path), True, True, True, True]


def test_subsets_and_estimates():
    a, b, part = (BloomFilter(n=2000, p=0.001) for _ in range(3))
    a.update(range(1000))
    b.update(range(600, 1600))
    part.update(range(300, 500))
    assert part <= a and part < a and a >= part and a > part and a <= a
    assert not (part <= b or a < a or a <= b or b <= a or part > a or part >= a)
    assert part.issubset(a) and a.issuperset(part) and not a.issubset(part)
    assert a.union_count(b) == len(a | b) and abs(a.intersection_count(b) - 400) < 60
    other = BloomFilter(n=3000, p=0.001)
    methods = (a.issubset, a.issuperset, a.union_count, a.intersection_count)
    for call in (*methods, lambda o: a <= o, lambda o: a > o):
        for wrong in (1, {1}, None):
            with pytest.raises(TypeError):
                call(wrong)
        with pytest.raises(ValueError):
            call(other)
    before = len(a)
    assert a.update(b) == len(a) - before and b <= a and a.update(part) == 0
