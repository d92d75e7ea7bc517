"""Filters that grow: never a lost key, the rate, parts, homes, copies, pickles, several
processes."""

import pytest

from bloomfilter import BloomFilter

pytestmark = pytest.mark.quick

SMALL = {"n": 100, "p": 0.01, "grow": 2.0}


def keys(letter, n, start=0):
    return [f"{letter}{i}" for i in range(start, start + n)]


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
