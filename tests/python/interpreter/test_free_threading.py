"""Eight threads in one filter at once: no key is lost, nothing crashes, nobody waits for ever.

With a GIL they take turns, at every possible place; without one (python3.14t) they really run at
once, and this is what the free-threaded wheels are judged by."""

import gc
import pickle
import sys
import threading

import pytest
from threads import in_threads

from bloomfilter import BloomFilter, CountingBloomFilter, Error

THREADS = 8
EACH = 1000 if getattr(sys, "_is_gil_enabled", lambda: True)() else 3000


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

FIXED = {
    "classic": {"m": 1_000_003, "n": 20_000, "scheme": "classic"},
    "block": {"n": 20_000, "p": 0.001, "scheme": "block"},
    "block2": {"n": 20_000, "p": 1e-5, "scheme": "block2"},
    "shards": {"n": 20_000, "p": 0.01, "shards": 4},
    "murmur": {"n": 20_000, "p": 0.01, "scheme": "guava"},
    "file": {"n": 20_000, "p": 0.01, "storage": "a.bloom"},
}


def place(arguments, tmp_path):
    return (
        {**arguments, "storage": tmp_path / arguments["storage"]}
        if "storage" in arguments
        else arguments
    )


@pytest.mark.parametrize("kind", FIXED)
def test_the_bits_are_those_of_one_thread(kind, tmp_path):
    arguments = place(FIXED[kind], tmp_path)
    bf = BloomFilter(**arguments)
    in_threads(*(lambda t=t, add=add: add(bf, keys_of(t)) for t, add in enumerate(WAYS)))
    alone = BloomFilter(**{**arguments, "storage": None})
    for t in range(THREADS):
        alone.update(keys_of(t))
    assert bf.bitset == alone.bitset and bf == alone


@pytest.mark.parametrize("kind", ["block", "file"])
def test_what_one_thread_added_the_others_find(kind, tmp_path):
    bf = BloomFilter(**place(FIXED[kind], tmp_path))
    added, done = [], threading.Event()

    def add(thread):
        for key in keys_of(thread):
            bf.add(key)
            added.append(key)

    def look(check):
        while not done.is_set():
            check(added[-100:])

    def found(keys):
        assert bf.contains_many(keys) == b"\1" * len(keys)

    def found_singly(keys):
        assert all(key in bf for key in keys)

    def found_in_copy(keys):
        assert all(bf.copy().contains_many(keys)) and all(
            pickle.loads(pickle.dumps(bf)).contains_many(keys)
        )

    def found_in_bytes(keys):
        assert all(BloomFilter.from_bytes(bf.to_bytes()).contains_many(keys))
        assert (
            bf.info()["count"] <= len(bf) + 1
        )  # keys only come: the later estimate is no less, but for rounding

    writers = [threading.Thread(target=add, args=(t,)) for t in range(4)]

    def write():
        try:
            for writer in writers:
                writer.start()
            for writer in writers:
                writer.join()
        finally:
            done.set()

    in_threads(
        write,
        *(
            lambda check=check: look(check)
            for check in (found, found_singly, found_in_copy, found_in_bytes)
        ),
        lambda: look(lambda keys: gc.collect()),
    )
    assert len(added) == 4 * EACH
    found(added)


@pytest.mark.parametrize("storage", [None, "window.bloom"])
def test_forgetting(storage, tmp_path):
    now = [1e9]
    bf = BloomFilter(
        n=30_000, p=1e-4, window=60, storage=storage and tmp_path / storage, clock=lambda: now[0]
    )

    def tick():
        for _ in range(200):
            now[0] += 0.1

    in_threads(
        tick,
        *(lambda t=t: add_one_by_one(bf, keys_of(t)) for t in range(4)),
        *(lambda t=t: bf.update(keys_of(t)) for t in range(4, 7)),
    )
    for t in range(7):
        assert all(bf.contains_many(keys_of(t)))
    now[0] += 100
    assert not bf.contains_many(keys_of(0)).strip(b"\0")


@pytest.mark.parametrize("storage", [None, "counted.bloom"])
def test_counting(storage, tmp_path):
    """Three times in, twice out: what remains is exactly one of each, whoever did what when."""
    bf = CountingBloomFilter(n=40_000, p=1e-7, storage=storage and tmp_path / storage)
    keys = [f"key {i}" for i in range(4000)]

    def work():
        bf.update(keys)

    in_threads(*(work for _ in range(3)))
    in_threads(
        *(lambda: bf.remove_many(keys) for _ in range(2)),
        *(lambda t=t: bf.update(f"{t} {i}" for i in range(2000)) for t in range(4)),
        lambda: [bf.count_many(keys) for _ in range(20)],
    )
    assert bf.count_many(keys) == b"\1" * 4000
    assert bf.remove_many(keys) == b"\1" * 4000 and not any(bf.contains_many(keys))
    assert all(bf.contains_many(f"{t} {i}" for t in range(4) for i in range(2000)))


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
