"""bloomfilter.compat: the names, arguments, results and exceptions of other packages.  Their own
tests, run on these modules, pass as far as docs/howto-move.md says."""

import io
import os
import pickle
import stat

import pytest
from bloomfilter.compat import bloom_filter2, pybloom_live, pybloomfilter, rbloom

TWO = [
    lambda: pybloom_live.BloomFilter(1000, 0.001),
    lambda: pybloom_live.ScalableBloomFilter(1000, 0.001),
    lambda: pybloomfilter.BloomFilter(1000, 0.001),
    lambda: bloom_filter2.BloomFilter(1000, 0.001),
    lambda: rbloom.Bloom(1000, 0.001),
    lambda: rbloom.Bloom(1000, 0.001, hash_func=lambda key: len(key) << 100),
]


@pytest.mark.parametrize("create", TWO)
def test_the_sense_of_add_and_what_is_refused(create):
    bf = create()
    answers = (bf.add("a"), bf.add("a"))
    assert answers == ((False, True) if "pybloom" in type(bf).__module__ else (None, None))
    assert "a" in bf and "bb" not in bf and len(bf) == 1
    if getattr(bf, "hash_func", hash) is hash:
        for wrong in (1.5, ("a",), None, True):
            with pytest.raises(TypeError):
                bf.add(wrong)
        copy = pickle.loads(pickle.dumps(bf))
        assert type(copy) is type(bf) and copy == bf


@pytest.mark.parametrize("name", ["BloomFilter", "ScalableBloomFilter"])
def test_pybloom_live(name):
    kind = getattr(pybloom_live, name)
    one, two = kind(100, 0.001), kind(100, error_rate=0.001)
    for i in range(100):
        (one if i % 2 else two).add(i)
    for both in (one.union(two), one | two):
        assert all(i in both for i in range(100)) and type(both) is kind
    assert one.error_rate == 0.001 and one.count == len(one) > 45
    stream = io.BytesIO(b"before")
    stream.seek(6)
    one.tofile(stream)
    two.tofile(stream)
    stream.seek(6)
    again = [kind.fromfile(stream), kind.fromfile(stream)]
    assert again == [one, two] and type(again[0]) is kind
    assert one.add("x", skip_check=True) is one.add("x", skip_check=True) is False
    for other in (kind(100_000, 0.001), kind(100, 0.1)):
        with pytest.raises(ValueError):
            one.union(other)
    for wrong in ((100, 0), (100, -1), (-1, 0.1)):
        with pytest.raises(ValueError):
            kind(*wrong)


def test_pybloom_live_capacity():
    bf = pybloom_live.BloomFilter(capacity=100)
    assert (bf.capacity, bf.error_rate, bf.num_bits, bf.num_slices) == (100, 0.001, bf.m, bf.k)
    with pytest.raises(IndexError):
        for i in range(102):
            bf.add(i)
    grows = pybloom_live.ScalableBloomFilter(mode=pybloom_live.ScalableBloomFilter.SMALL_SET_GROWTH)
    assert (grows.initial_capacity, grows.error_rate, grows.scale) == (100, 0.001, 2)
    assert sum(grows.add(i) for i in range(5000)) < 20
    assert grows.capacity >= 5000 and sum(i in grows for i in range(5000, 15000)) < 40


def test_rbloom(tmp_path):
    def length(key):
        return len(key)

    bf = rbloom.Bloom(1000, 0.01)
    assert not bf and bf.approx_items == 0.0 and bf.size_in_bits == bf.m and bf.hash_func is hash
    assert bf.update(["a", "b"], {"c"}, bf) is None and bf.approx_items == 3.0
    assert bf.union(["d"], bf) == bf | bf.union(["d"]) > bf.intersection({"a", "x"}) < bf
    assert "a" in bf.intersection({"a", "x"}) and "b" not in bf.intersection({"a", "x"})
    bf.intersection_update(bf, ["a"])
    assert "a" in bf and "b" not in bf and bf.issubset(bf) and bf.issuperset(bf)
    assert type(bf & bf) is rbloom.Bloom
    bf = rbloom.Bloom(1000, 0.01, length)
    bf.update([("any", "object"), [1, 2, 3]])
    bf.save(tmp_path / "x.bloom")
    for again in (
        rbloom.Bloom.load(tmp_path / "x.bloom", length),
        rbloom.Bloom.load_bytes(bf.save_bytes(), length),
        bf.copy(),
        bf | bf,
        bf & bf,
    ):
        assert again == bf and again.hash_func is length and "ab" in again and "abcd" not in again
    things = [[1], [1, 2, 3, 4, 5]]
    assert [list(bf.add_many(things)), [*bf.contains_mask(things)]] == [[1, 1], [True, True]]
    assert bf.addKey([1]) == 0 and bf.existKey([2]) and bf.hashcode([1]) == bf.hashcode("x")
    assert bf.rebuild([[1, 2]]) == 1 and "ab" in bf and [*bf.contains_many(things)] == [0, 0]
    assert [*bf.add_mask(things)] == [True, True]
    for wrong in ((0, 0.1), (10, 0.0), (10, 1.0)):
        with pytest.raises(ValueError):
            rbloom.Bloom(*wrong)


def test_pybloomfilter(tmp_path):
    path, other = str(tmp_path / "a.bloom"), str(tmp_path / "b.bloom")
    bf = pybloomfilter.BloomFilter(1000, 0.001, path, 0o640)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o640
    assert (bf.capacity, bf.error_rate, bf.num_bits, bf.num_hashes) == (1000, 0.001, bf.m, bf.k)
    bf.update(["a", "b"])
    assert bf.approx_len == 2 and not bf.read_only
    assert bf.bit_count == bf.info()["ones"] and (bf.filename, bf.name) == (path, path.encode())
    assert "a" in pybloomfilter.BloomFilter(1000, 0.001, path)  # opened, and not emptied
    copy, empty = bf.copy(other), bf.copy_template(str(tmp_path / "c.bloom"))
    assert copy == bf and copy.filename == other and not empty and empty.union(bf) is empty == bf
    assert empty.intersection(pybloomfilter.BloomFilter(1000, 0.001)) is empty and not empty
    for method in (empty.union, empty.intersection):
        with pytest.raises(TypeError):
            method("a")
    text = bf.to_base64()
    for given in (text, text.encode()):
        again = pybloomfilter.BloomFilter.from_base64(str(tmp_path / f"{given[:1]}.bloom"), given)
        assert again == bf
    reader = pybloomfilter.BloomFilter.open(path, "r")
    assert reader.read_only and "a" in reader
    for call in (lambda: reader.add("c"), lambda: reader.update(["c"]), reader.clear_all):
        with pytest.raises(ValueError):
            call()
    bf.clear_all()
    assert not bf
    with pytest.raises(OSError):
        pybloomfilter.BloomFilter.open(str(tmp_path / "missing"))
    with pytest.raises(OSError):
        pybloomfilter.BloomFilter(10, 0.1, str(tmp_path / "missing/x.bloom"))
    for name in ("filename", "name"):
        with pytest.raises(NotImplementedError):
            getattr(pybloomfilter.BloomFilter(10, 0.1), name)
    bf.close()
    with pytest.raises(ValueError):
        bf.add("a")


def test_bloom_filter2(tmp_path):
    path = str(tmp_path / "a.bloom")
    with bloom_filter2.BloomFilter(100, 0.01, None, path) as bf:
        assert bf.ideal_num_elements_n == 100 and bf.error_rate_p == 0.01
        assert (bf.num_bits_m, bf.num_probes_k) == (bf.m, bf.k)
        bf += "a"
    bf = bloom_filter2.BloomFilter(max_elements=100, error_rate=0.01, filename=(path, -1))
    assert "a" in bf  # opened, and not emptied
    other = bloom_filter2.BloomFilter(100, 0.01)
    other.add("b")
    assert bf.union(other) is None and "b" in bf
    assert bf.intersection(other) is None and "a" not in bf and "b" in bf
    bf.close()
    with pytest.raises(ValueError):
        bloom_filter2.BloomFilter(100, 2, filename=path, start_fresh=True)
    assert os.listdir(tmp_path) == [os.path.basename(path)] and bloom_filter2.BloomFilter(
        100, 0.01, filename=path
    )
    for name in (path, f"file:{path}", os.fsencode(path)):
        bloom_filter2.BloomFilter(100, 0.01, filename=name).add("a")
        assert "a" not in bloom_filter2.BloomFilter(100, 0.01, filename=name, start_fresh=True)
        assert os.listdir(tmp_path) == [os.path.basename(path)]
    for name, error in ((str(tmp_path), OSError), ("redis://127.0.0.1:1/0?key=a", ValueError)):
        with pytest.raises(error):
            bloom_filter2.BloomFilter(100, 0.01, filename=name, start_fresh=True)
    assert os.listdir(tmp_path) == [os.path.basename(path)]
    assert bloom_filter2.BloomFilter(10**6, error_rate=0.99).num_probes_k == 1
    assert bloom_filter2.BloomFilter().ideal_num_elements_n == 10000
    for wrong in ({"max_elements": 0}, {"error_rate": 0}, {"error_rate": 1}):
        with pytest.raises(ValueError):
            bloom_filter2.BloomFilter(**wrong)
    with pytest.raises(TypeError):
        bloom_filter2.BloomFilter(10, 0.1, hash)
