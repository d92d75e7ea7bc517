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
@pytest.mark.parametrize("n", [100, 1000, 30_000])
def test_one_warning_that_points_at_the_add(kind, n, seen):
    bf = kind(n=n, p=0.01)
    before = 0.0
    for i in range(4 * n):
        if not seen() and i % (n // 10) == 0:
            before = bf.fill_ratio
        bf.add(i)
    assert len(seen()) == 1 and 0.45 < before < 0.62 and bf.saturated
    assert (
        seen()[0].filename == __file__
        and f"n={n}" in str(seen()[0].message)
        and ("counters" in str(seen()[0].message)) == (kind is CountingBloomFilter)
    )


@pytest.mark.parametrize(
    "keys", [lambda n: range(n), lambda n: (str(i) for i in range(n)), lambda n: numpy.arange(n)]
)
def test_in_batches(keys, seen):
    for call in (BloomFilter.update, BloomFilter.add_many):
        bf = BloomFilter(n=1000, p=0.01)
        call(bf, keys(500))
        assert not seen() and not bf.saturated
        call(bf, keys(3000))
        assert not seen() and bf.saturated
        call(bf, keys(0))  # comes before the keys of the next call
        assert len(seen()) == 1
        call(bf, keys(4000))
        assert len(seen()) == 1
        seen()[0].category = None


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


def test_after_clear_it_warns_again_and_after_opening(tmp_path, seen):
    bf = BloomFilter(n=100, p=0.01, storage=tmp_path / "f.bloom")
    bf.update(range(1000))
    bf.update(())
    bf.clear()
    assert not bf.saturated and len(seen()) == 1
    bf.update(range(1000))
    bf.update(())
    assert len(seen()) == 2
    again = BloomFilter.open(tmp_path / "f.bloom")
    again.add("before the first key")
    assert len(seen()) == 3
    BloomFilter.open(tmp_path / "f.bloom", warn=False).update(range(5000))
    assert len(seen()) == 3


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


@pytest.mark.parametrize("n", [5, 1000])
@pytest.mark.parametrize("kind", [BloomFilter, CountingBloomFilter])
@pytest.mark.parametrize("home", ["memory", "exclusive", "shared"])
def test_raise(kind, home, n, tmp_path, seen):
    """It takes n new keys; in a shared file n by the estimate."""
    for number, call in enumerate([*BATCHES, None]):
        storage = None if home == "memory" else tmp_path / str(number)
        bf = kind(n=n, p=0.01, storage=storage, exclusive=home == "exclusive", overfull="raise")
        new = 0
        with pytest.raises(FullError, match=f"is full: it holds the n={n} keys") as caught:
            if call:
                call(bf, range(4 * n + 50))
            for i in range(4 * n + 50):
                new += bf.add(i)
        keys = caught.value.index if call else i
        if not call:
            assert n * 0.9 - 2 < new < n * 1.1 + 2 if home == "shared" else new == n
        assert n * 0.9 - 2 < keys < n * 1.2 + 2 and isinstance(caught.value, Error)
        assert all(bf.contains_many(range(keys))) and keys not in bf
        assert bf.add_many(range(keys)) == bytes(keys) and bf.add(0) is False  # an add is a test
        with pytest.raises(FullError):
            bf.add(keys)
        with pytest.raises(FullError):
            bf.copy().update(range(4 * n))
        bf.clear()
        assert bf.add("x") and not seen()
        with pytest.raises(FullError):
            bf.rebuild(range(4 * n))
        assert "x" in bf and len(bf) == 1
        bf.rebuild(range(n // 2))
        bf.close()


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
    for wrong, fault in (("Raise", ValueError), ("", ValueError), (True, TypeError)):
        with pytest.raises(fault, match="overfull must be"):
            BloomFilter(n=100, p=0.01, overfull=wrong)


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


def test_subsets_and_estimates(scheme):
    a, b, part = (BloomFilter(n=2000, p=0.001, scheme=scheme) for _ in range(3))
    a.update(range(1000))
    b.update(range(600, 1600))
    part.update(range(300, 500))
    assert (
        part <= a
        and part < a
        and not part <= b
        and a >= part
        and a > part
        and not a < a
        and a <= a
        and not (a <= b or b <= a)
    )
    assert part.issubset(a) and a.issuperset(part) and not a.issubset(part)
    assert (
        abs(a.union_count(b) - 1600) < 60
        and abs(a.intersection_count(b) - 400) < 60
        and a.union_count(b) == len(a | b)
    )
    assert a.intersection_count(part) >= 180 and BloomFilter(n=2000, p=0.001, scheme=scheme) <= part
    other = BloomFilter(n=3000, p=0.001, scheme=scheme)
    methods = (a.issubset, a.issuperset, a.union_count, a.intersection_count)
    for call in (*methods, lambda o: a <= o, lambda o: a > o):
        for wrong in (1, {1}, None):
            with pytest.raises(TypeError):
                call(wrong)
        with pytest.raises(ValueError) as e:
            call(other)
        assert str(a.m) in str(e.value) and str(other.m) in str(e.value)
    with pytest.raises(ValueError):
        a.update(other)
    before = len(a)
    assert a.update(b) == len(a) - before and b <= a and a.update(part) == 0
