"""rebuild: in memory and in files the bits of a new filter, for everybody who uses it; what is added meanwhile is kept."""

import os
import signal
import threading

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


@pytest.mark.parametrize("kind", KINDS)
def test_threads_add_meanwhile(kind, place):
    f, g = pair(kind, place)
    f.update(keys(0, 100))
    for turn in range(20):
        begun, added = threading.Event(), []

        def adds(first, begun=begun, added=added):
            begun.wait()
            some = keys(first, first + 200)
            added.extend(some)
            g.update(some[:100])
            for key in some[100:]:
                g.add(key)

        thread = threading.Thread(target=adds, args=(10_000 + 200 * turn,))

        def rows(begun=begun):
            yield "k0"
            begun.set()
            yield from keys(1, 100)

        thread.start()
        f.rebuild(rows())
        thread.join()
        assert (
            len(added) == 200 and all(f.contains_many(added)) and all(g.contains_many(keys(0, 100)))
        )


def test_whoever_dies_leaves_the_old_keys(tmp_path):
    path = tmp_path / "f.bloom"
    f = BloomFilter(n=2000, p=0.001, storage=path)
    f.update(keys(0, 1000))
    size = path.stat().st_size
    pid = os.fork()
    if pid == 0:

        def rows():
            yield "new"
            os.kill(os.getpid(), signal.SIGKILL)

        BloomFilter.open(path).rebuild(rows())
        os._exit(1)
    assert os.waitpid(pid, 0)[1] == signal.SIGKILL and path.stat().st_size > size
    assert BloomFilter.load(path) == of(BloomFilter, (0, 1000))
    f.add("k1000")
    assert path.stat().st_size == size and BloomFilter.open(path) == of(BloomFilter, (0, 1001))
    assert f.rebuild(["k7"]) == 1 and f == of(BloomFilter, (7, 8))
