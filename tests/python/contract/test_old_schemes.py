"""The schemes of older systems: what is made of a filter hashes as it does, and their counting files.
Their positions: tests/c/test_vectors.c."""

import pytest

from bloomfilter import BloomFilter, CountingBloomFilter


@pytest.mark.parametrize("scheme", ["guava:chars", "guava:long", "guava:int", "gozero"])
def test_what_is_made_of_a_filter_hashes_as_it_does(scheme):
    """What follows the colon goes along to every other filter that is made of this one."""
    size = {"n": 100} if scheme == "gozero" else {"n": 100, "p": 0.01}
    a, b = (BloomFilter(**size, scheme=scheme, warn=False) for _ in range(2))
    a.add("12")
    b.update(["12", "13"])
    for both in (a | b, a.union(b), b | a):
        assert "12" in both and "13" in both and both.hashcode("12") == a.hashcode("12")
    shared = a & b
    assert "12" in shared and "13" not in shared
    for other in (a.copy(), BloomFilter.from_bytes(a.to_bytes())):
        assert "12" in other and other.p == a.p and (other | b) == (a | b)
    a.rebuild(["14"])
    assert "14" in a and "12" not in a and a.hashcode("13") == b.hashcode("13")


@pytest.mark.parametrize("scheme", ["rs-dotnet", "rs-dotnet-repo"])
@pytest.mark.parametrize("m", [1000, 1001])
def test_a_counting_file_keeps_its_counts(scheme, m):
    """Counters of that system: a byte each, raised by every draw, also by a second one of the same
    cell."""
    scale = BloomFilter(m=m, k=5, scheme=scheme)
    keys = [f"key {i % 70}" for i in range(140)] + ["often"] * 40
    counters = bytearray(m)
    for key in keys:
        for cell in scale.hashcode(key):
            counters[cell] += 1
    bf = CountingBloomFilter.from_bytes(bytes(counters), format="cells", m=m, k=5, scheme=scheme)
    for key in set(keys):
        assert bf.count_of(key) == min(15, *(counters[cell] for cell in scale.hashcode(key)))
    for i in range(40):
        assert bf.remove(f"key {i}")
        assert bf.remove(f"key {i}")
    assert all(f"key {i}" in bf for i in range(40, 70)) and "often" in bf
    gone = [f"key {i}" for i in range(40) if f"key {i}" not in bf]
    assert len(gone) > 20  # cells that one key raised twice keep a count
    plain = BloomFilter.from_bytes(bytes(counters), format="cells", m=m, k=5, scheme=scheme)
    assert all(key in plain for key in keys)
