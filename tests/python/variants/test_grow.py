"""Filters that grow: never a lost key, the rate, parts, homes, copies, pickles, several
processes."""

import pickle
import subprocess
import sys
from math import sqrt

import pytest

from bloomfilter import BloomFilter, Error

SMALL = {"n": 100, "p": 0.01, "grow": 2.0}


def keys(letter, n, start=0):
    return [f"{letter}{i}" for i in range(start, start + n)]


@pytest.fixture(params=["memory", "file"])
def storage(request, tmp_path):
    return None if request.param == "memory" else tmp_path / "grow.bloom"


@pytest.mark.parametrize("scheme", [None, "classic", "block", "block2"])
@pytest.mark.parametrize("p", [0.1, 0.01, 1e-4])
def test_it_grows_and_keeps_its_rate(storage, scheme, p):
    bf = BloomFilter(n=100, p=p, grow=2.0, scheme=scheme, storage=storage)
    m, fresh = bf.m, 0
    for start in range(0, 40_000, 700):
        fresh += bf.update(keys("k", 700, start))
        assert all(bf.contains_many(keys("k", 700, start)))
        assert f"k{start // 2}" in bf
    total = start + 700
    assert all(bf.contains_many(keys("k", total))) and bf.m > 10 * m
    assert total - fresh <= p * total + 5 * sqrt(p * total) + 5
    probes = 100_000
    assert sum(bf.contains_many(keys("x", probes))) <= p * probes + 5 * sqrt(p * probes) + 5
    assert bf.fpr <= p and abs(len(bf) - fresh) < 0.05 * fresh
    assert (bf.n, bf.p, bf.grow, bf.window, bf.parts) == (100, p, 2.0, None, None)


def test_single_adds_are_true_for_new():
    bf, seen, wrong = BloomFilter(**SMALL), set(), 0
    for i in range(5000):
        key = f"k{i * 7919 % 3000}"
        new = bf.add(key)
        assert not (new and key in seen)
        wrong += (not new) and key not in seen
        seen.add(key)
        assert key in bf
    assert wrong < 80


def test_parts_and_positions():
    bf = BloomFilter(n=1000, p=0.01, grow=2)
    bf.update(keys("k", 100_000))
    parts = bf.part_info()
    assert len(parts) > 3 and sum(part["m"] for part in parts) == bf.m == len(bf.bitset) * 8
    assert (
        all(part["keys"] == part["n"] for part in parts[:-1])
        and parts[-1]["keys"] <= parts[-1]["n"]
    )
    assert sum(part["p"] for part in parts) <= 0.01
    bf.add("last")
    bits = bf.bitset
    assert all(
        bits[i // 8] & 0x80 >> i % 8 and i >= parts[-1]["first_bit"] for i in bf.hashcode("last")
    )
    fixed = BloomFilter(1000, 10)
    assert fixed.part_info() == [{"first_bit": 0, "m": 1000, "n": 10, "p": fixed.p}]
    assert (fixed.grow, fixed.window, fixed.parts) == (None, None, None)


def test_copies_bytes_and_pickles(tmp_path):
    bf = BloomFilter(**SMALL)
    bf.update(keys("k", 9000))
    bf.save(tmp_path / "saved.bloom")
    again = [
        bf.copy(),
        BloomFilter.from_bytes(bf.to_bytes()),
        pickle.loads(pickle.dumps(bf)),
        BloomFilter.load(tmp_path / "saved.bloom"),
        BloomFilter.open(tmp_path / "saved.bloom"),
        BloomFilter.from_bytes(bf.to_bytes(), **{k: SMALL[k] for k in "np"}),
    ]
    for other in again:
        assert (
            other == bf
            and other.grow == 2.0
            and other.m == bf.m
            and all(other.contains_many(keys("k", 9000)))
        )
        other.update(keys("l", 30_000))
        assert other != bf and all(other.contains_many(keys("l", 30_000) + keys("k", 9000)))
    assert "grow=2" in repr(bf)


def test_a_file_is_reopened_by_its_parameters(tmp_path):
    path = tmp_path / "f.bloom"
    with BloomFilter(**SMALL, storage=path) as bf:
        bf.update(keys("k", 5000))
    assert all(BloomFilter(**SMALL, storage=path).contains_many(keys("k", 5000)))
    assert pickle.loads(pickle.dumps(BloomFilter.open(path))) == BloomFilter.open(path)
    for other in ({**SMALL, "grow": 3}, {**SMALL, "n": 200}, {"n": 100, "p": 0.01, "window": 60}):
        with pytest.raises(Error):
            BloomFilter(**other, storage=path)
    assert all(BloomFilter.open(path, read_only=True).contains_many(keys("k", 5000)))


def test_what_another_handle_appended_is_known_at_once(tmp_path):
    asked = [
        lambda b: len(b.bitset),
        lambda b: len(b.part_info()),
        lambda b: len(b.info()["parts"]),
        lambda b: b.to_bytes(),
        lambda b: len(b.copy()),
        lambda b: bf == b,
    ]
    for i, ask in enumerate(asked):
        with (
            BloomFilter(**SMALL, storage=tmp_path / str(i)) as bf,
            BloomFilter.open(tmp_path / str(i)) as old,
        ):
            bf.update(keys("k", 5000))
            assert old.m < bf.m and ask(old) == ask(bf)


def test_sets():
    a, b = BloomFilter(**SMALL), BloomFilter(**SMALL)
    a.update(keys("a", 3000))
    b.update(keys("b", 3000))
    assert all((a | b).contains_many(keys("a", 3000) + keys("b", 3000)))
    b.update(keys("b", 30_000))
    for fault in (
        lambda: a | b,
        lambda: a & a.copy(),
        lambda: a | BloomFilter(n=100, p=0.01),
        lambda: a.to_bytes(format="bits"),
    ):
        with pytest.raises(ValueError):
            fault()
    assert a != b and a != BloomFilter(n=100, p=0.01)
    a.clear()
    assert not a and "a1" not in a and a.add("a1")


@pytest.mark.parametrize(
    "kwargs",
    [
        {"n": 10, "p": 0.1, "grow": 2, "window": 5},
        {"m": 100, "n": 10, "grow": 2},
        {"m": 100, "k": 3, "grow": 2},
        {"n": 10, "p": 0.1, "grow": 2, "shards": 4},
        {"n": 10, "p": 0.1, "grow": 2, "scheme": "redisson"},
        {"n": 10, "p": 0.1, "parts": 3},
        {"n": 10, "p": 0.1, "clock": lambda: 0.0},
    ],
)
def test_what_does_not_go_together(kwargs):
    with pytest.raises(ValueError):
        BloomFilter(**kwargs)


def test_plan_says_the_first_part():
    plan = BloomFilter.plan(**SMALL)
    bf = BloomFilter(**SMALL)
    assert (plan["m"], plan["n"], plan["k"], plan["p"], plan["scheme"]) == (
        bf.m,
        bf.n,
        bf.k,
        bf.p,
        bf.scheme,
    )


ADDER = """
import sys
from bloomfilter import BloomFilter
with BloomFilter(n=100, p=0.01, grow=2.0, storage=sys.argv[1]) as bf:
    for i in range(0, 20000, 100):
        keys = [f"{sys.argv[2]}{j}" for j in range(i, i + 100)]
        bf.update(keys)
        assert all(bf.contains_many(keys)) and keys[0] in bf
"""


def test_processes_grow_one_file(tmp_path):
    path = tmp_path / "f.bloom"
    early = BloomFilter(**SMALL, storage=path)
    running = [subprocess.Popen([sys.executable, "-c", ADDER, path, letter]) for letter in "abc"]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    for letter in "abc":
        assert all(early.contains_many(keys(letter, 20_000)))
    assert sum(early.contains_many(keys("x", 50_000))) <= 0.011 * 50_000 + 120
