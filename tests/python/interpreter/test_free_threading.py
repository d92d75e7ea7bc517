"""Eight threads in one filter at once: no key is lost, nothing crashes, nobody waits for ever.

With a GIL they take turns, at every possible place; without one (python3.14t) they really run at
once, and this is what the free-threaded wheels are judged by."""

import gc
import pickle
import sys
import threading

import numpy as np
import pytest
from threads import in_threads

from bloomfilter import BloomFilter, CountingBloomFilter, Error

THREADS = 8
EACH = 3000


def keys_of(thread, n=EACH):
    """Half of them are the next thread's too."""
    return [f"key {thread * n // 2 + i}" for i in range(n)]


# Every way to add a list of keys, without false "not new".
def add_one_by_one(bf, keys):
    for key in keys:
        bf.add(key)


def add_united(bf, keys):
    for i in range(0, len(keys), 500):
        part = bf.copy()
        part.clear()
        part.update(keys[i : i + 500])
        bf |= part


WAYS = [
    add_one_by_one,
    lambda bf, keys: bf.update(keys),
    lambda bf, keys: bf.add_many(iter(keys)),
    lambda bf, keys: [bf.update(keys[i : i + 10]) for i in range(0, len(keys), 10)],
    lambda bf, keys: bf.update_lines("".join(f"{key}\n" for key in keys).encode()),
    lambda bf, keys: bf.add_many(key.encode() for key in keys),
    add_united,
    add_one_by_one,
]

KINDS = {
    "classic": {"m": 1_000_003, "n": 20_000, "scheme": "classic"},
    "block": {"n": 20_000, "p": 0.001, "scheme": "block"},
    "block2": {"n": 20_000, "p": 1e-5, "scheme": "block2"},
    "shards": {"n": 20_000, "p": 0.01, "shards": 4},
    "murmur": {"n": 20_000, "p": 0.01, "scheme": "guava"},
    "file": {"n": 20_000, "p": 0.01, "storage": "a.bloom"},
    "clock": {"n": 20_000, "p": 0.01, "window": 60, "clock": lambda: 1e9},
    "clock and file": {"n": 20_000, "p": 0.01, "window": 60, "clock": lambda: 1e9, "storage": "b"},
    "counting": {"n": 20_000, "p": 0.01},
}
KEPT = [f"kept {i}" for i in range(100)]


def look(bf, clock):
    """Other threads test, copy and collect meanwhile."""
    twins = [BloomFilter.copy, lambda bf: type(bf).from_bytes(bf.to_bytes(), **clock)]
    if not clock:
        twins.append(lambda bf: pickle.loads(pickle.dumps(bf)))
    for _ in range(5):
        assert all(key in bf for key in KEPT)
        for twin in twins:
            assert all(twin(bf).contains_many(KEPT))
        assert bf.info()["count"] <= len(bf) + 1  # keys only come: but for rounding
        gc.collect()


@pytest.mark.parametrize("name", KINDS)
def test_the_bits_are_those_of_one_thread(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kind = CountingBloomFilter if name == "counting" else BloomFilter
    bf = kind(**KINDS[name])
    bf.update(KEPT)
    clock = {key: KINDS[name][key] for key in ("clock",) if key in KINDS[name]}
    adders = (lambda t=t, add=add: add(bf, keys_of(t)) for t, add in enumerate(WAYS))
    in_threads(*adders, *(lambda: look(bf, clock) for _ in range(2)))
    alone = kind(**{**KINDS[name], "storage": None})
    alone.update(KEPT)
    for t in range(THREADS):
        alone.update(keys_of(t))
    assert bf.bitset == alone.bitset and bf == alone
    if name == "counting":
        in_threads(*(lambda t=t: bf.remove_many(keys_of(t)) for t in range(THREADS)))
        alone.clear()
        alone.update(KEPT)
        assert bf == alone


@pytest.mark.parametrize("arguments", [{"p": 0.001}, {"p": 0.001, "grow": 2.0}])
def test_clear_forgets_nothing_that_comes_after_it(arguments):
    bf = BloomFilter(n=30_000, **arguments)
    after = threading.Barrier(THREADS)

    def work(thread):
        for i in range(200):
            bf.add(f"before {thread} {i}")
            if thread == 0:
                bf.clear()
        after.wait(900)
        WAYS[thread](bf, keys_of(thread)) if "grow" not in arguments else bf.update(keys_of(thread))

    in_threads(*(lambda t=t: work(t) for t in range(THREADS)))
    for t in range(THREADS):
        assert all(bf.contains_many(keys_of(t)))


def test_close_and_make_anew_under_everything(tmp_path):
    """What is refused is refused with an exception; what remains at the end works."""
    path = tmp_path / "a.bloom"
    bf, other, refused = BloomFilter(n=1000, p=0.01), BloomFilter(n=1000, p=0.01), []
    other.add("other")

    def tolerant(job, times):
        for i in range(times):
            try:
                job(i)
            except (Error, ValueError) as e:
                refused.append(str(e))

    def anew(i):
        bf.close()
        bf.__init__(
            n=1000, p=0.01, storage=path if i % 3 == 0 else None, grow=2.0 if i % 3 == 1 else None
        )

    jobs = [
        (anew, 300),
        (lambda i: bf.add(f"a {i % 500}"), 5000),
        (lambda i: f"a {i}" in bf, 5000),
        (lambda i: bf.update(map(str, range(100))), 300),
        (lambda i: bf.update(np.arange(5000)), 300),
        (lambda i: (bf.copy(), bf.to_bytes(), repr(bf), bf.storage, sys.getsizeof(bf)), 300),
        (lambda i: bf.union(other), 300),
        (lambda i: bf.__ior__(other), 300),
        (
            lambda i: (
                bf.clear(),
                len(bf),
                bf == other,
                bf.bitset,
                gc.collect() if i % 50 == 0 else None,
            ),
            300,
        ),
    ]
    in_threads(*(lambda job=job, times=times: tolerant(job, times) for job, times in jobs))
    assert all("closed" in text or "batch" in text or "must" in text for text in refused), set(
        refused
    )
    bf.__init__(n=1000, p=0.01)
    assert bf.add("x") and "x" in bf


def test_sets_crosswise():
    a, b = BloomFilter(n=20_000, p=0.001), BloomFilter(n=20_000, p=0.001)
    jobs = [
        lambda: [a.__ior__(b) for _ in range(100)],
        lambda: [b.__ior__(a) for _ in range(100)],
        lambda: add_one_by_one(a, keys_of(0)),
        lambda: b.update(iter(keys_of(1))),
        lambda: [(a & b, a == b, a <= b, a.union_count(b)) for _ in range(50)],
        lambda: [(b | a, b.issuperset(a), b.intersection_count(a)) for _ in range(50)],
        lambda: [(a.copy() | b.copy(), a.__ior__(a)) for _ in range(50)],
        lambda: a.update(b) and [len(a) for _ in range(50)],
    ]
    in_threads(*jobs)
    a |= b
    b |= a
    assert a == b and all(a.contains_many(keys_of(0) + keys_of(1)))


def test_a_list_that_another_thread_changes():
    bf = BloomFilter(n=100_000, p=0.01)
    keys = [f"key {i}" for i in range(20_000)]
    done = False

    def change():
        while not done:
            del keys[10_000:]
            keys.extend(f"new {i}" for i in range(10_000))

    def update():
        nonlocal done
        try:
            for _ in range(300):
                bf.update(keys)
        finally:
            done = True

    in_threads(change, update)
    assert bf.contains_many(f"key {i}" for i in range(10_000)) == b"\1" * 10_000


def test_importing_everything_leaves_the_gil_off(run_python):
    """In a process of its own: here, another package may have switched it on."""
    code = """
import pkgutil, sys, sysconfig, bloomfilter, bloomfilter.cli, bloomfilter._redis
for module in pkgutil.walk_packages(bloomfilter.__path__, "bloomfilter."):
    if module.name.startswith("bloomfilter.cli."): __import__(module.name)
free = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
print(getattr(sys, "_is_gil_enabled", lambda: True)() != free)
"""
    assert run_python(code) == "True"
