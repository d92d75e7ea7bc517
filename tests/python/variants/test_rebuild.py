"""rebuild: in memory and in files the bits of a new filter, for everybody who uses it; what is added meanwhile is kept."""

import pytest

from bloomfilter import BloomFilter, CountingBloomFilter, Error

KINDS = [BloomFilter, CountingBloomFilter]


def keys(begin, end):
    return [f"k{i}" for i in range(begin, end)]


def of(kind, *ranges):
    made = kind(n=2000, p=0.001)
    for some in ranges:
        made.update(keys(*some))
    return made


@pytest.fixture(params=["memory", "file"])
def place(request, tmp_path):
    return None if request.param == "memory" else tmp_path / "f.bloom"


def pair(kind, place):
    made = kind(n=2000, p=0.001, storage=place)
    return made, kind.open(place) if place else made


@pytest.mark.parametrize("kind", KINDS)
def test_the_bits_of_a_new_filter(kind, place):
    f, g = pair(kind, place)
    f.update(keys(0, 1000))
    assert f.rebuild(keys(500, 1500)) == 1000 and g == of(kind, (500, 1500))

    def rows():
        for i, key in enumerate(keys(0, 50)):
            if i == 7:
                g.update(keys(3000, 3100))
                assert "k600" in g and "k3000" in f and "k3" not in g  # used as ever
            yield key

    assert f.rebuild(rows()) == 50 and g == of(kind, (0, 50), (3000, 3100))
    g.update(keys(4000, 4010))
    assert f == of(kind, (0, 50), (3000, 3100), (4000, 4010))
    assert f.rebuild([]) == 0 and not g


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_changed_where_it_failed(kind, place):
    f, g = pair(kind, place)
    f.update(keys(0, 50))

    def stops():
        yield "c"
        f.add("k50")
        raise LookupError("stop")

    with pytest.raises(LookupError, match="stop"):
        f.rebuild(stops())
    for wrong in (["b", 1.5], "a", None):
        with pytest.raises(TypeError):
            f.rebuild(wrong)
    assert g == of(kind, (0, 51)) and g.rebuild(keys(1, 2)) == 1 and f == of(kind, (1, 2))


def test_who_may_rebuild(tmp_path):
    path = tmp_path / "f.bloom"
    f = BloomFilter(n=100, p=0.01, storage=path)

    def asks():
        yield "a"
        with pytest.raises(
            Error, match=f"{path} is being rebuilt by another process or handle: wait"
        ):
            BloomFilter.open(path).rebuild(["b"])

    assert f.rebuild(asks()) == 1 and BloomFilter.open(path).rebuild(["b"]) == 1 and "b" in f
    with pytest.raises(Error, match="read-only"):
        BloomFilter.open(path, read_only=True).rebuild(["b"])
    for kind, text in (
        ({"grow": 2}, "grows: it cannot be rebuilt outside of Redis, its parts"),
        ({"window": 9}, "forgets: it cannot be rebuilt"),
    ):
        with pytest.raises(Error, match=text):
            BloomFilter(n=100, p=0.01, **kind).rebuild(["a"])
