"""What is different in filters that grow or count, and what rebuild() leaves where it failed; the rest
is asked by the state machines of contract/test_properties.py."""

import pytest

from bloomfilter import BloomFilter, CountingBloomFilter

pytestmark = pytest.mark.quick


def test_parts_and_positions():
    bf = BloomFilter(n=1000, p=0.01, grow=2)
    bf.update(range(100_000))
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


def test_a_counting_filter_is_a_bloomfilter():
    bf, plain = CountingBloomFilter(n=1000, p=0.01), BloomFilter(n=1000, p=0.01)
    assert isinstance(bf, BloomFilter) and not hasattr(plain, "remove")
    assert (bf.m, bf.n, bf.k, bf.p, bf.scheme) == (plain.m, plain.n, plain.k, plain.p, plain.scheme)
    assert repr(bf).startswith("CountingBloomFilter(m=")
    bf.add("x")
    for i in bf.hashcode("x"):
        assert bf.bitset[i // 2] >> (0 if i % 2 else 4) & 15 == 1
    with pytest.raises(TypeError, match="key 1"):
        bf.remove_many(["a", None])
    for wrong in (None, 1.5):
        with pytest.raises(TypeError):
            bf.remove(wrong)
    with pytest.raises(TypeError):
        bf.remove_many("text")


@pytest.mark.parametrize("kind", [BloomFilter, CountingBloomFilter])
@pytest.mark.parametrize("home", ["memory", "file"])
def test_a_rebuild_that_failed_has_changed_nothing(kind, home, tmp_path):
    place = tmp_path / "f.bloom" if home == "file" else None
    sizes, keys = {"n": 2000, "p": 0.001}, [f"k{i}" for i in range(51)]
    f, twin = kind(**sizes, storage=place), kind(**sizes)
    g = kind.open(place) if place else f
    f.update(keys[:50])
    twin.update(keys)

    def stops():
        yield "c"
        f.add("k50")
        raise LookupError("stop")

    with pytest.raises(LookupError, match="stop"):
        f.rebuild(stops())
    for wrong in (["b", 1.5], "a", None):
        with pytest.raises(TypeError):
            f.rebuild(wrong)
    assert g == twin and g.rebuild(keys[:1]) == 1
    twin.rebuild(keys[:1])
    assert f == twin
