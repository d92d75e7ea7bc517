"""Hash functions of the user's: hashes=[callable, ...]."""

import functools
import gc
import hashlib
import pickle
import sys
import weakref
import zlib

import pytest

from bloomfilter import BloomFilter, CountingBloomFilter, Error


def crc(key):
    return zlib.crc32(key)


def adler(key):
    return zlib.adler32(key) * 2654435761


def sha(key):
    return int.from_bytes(hashlib.sha256(key).digest()[:8], "big")


THREE = [crc, adler, sha]


def made(**more):
    return BloomFilter(m=100_003, n=1000, hashes=THREE, **more)


def test_positions_are_the_answers_modulo_m():
    bf = made()
    assert (bf.scheme, bf.k) == ("functions", 3)
    assert bf.hashcode("key") == [f(b"key") % bf.m for f in THREE]
    assert bf.add("key") and not bf.add(b"key") and "key" in bf and "other" not in bf
    assert bf.update(map(str, range(500))) == 500 and all(str(i) in bf for i in range(500))
    assert bf.contains_many(["1", "x", "2"]) == b"\1\0\1"
    assert BloomFilter.plan(m=100_003, n=1000, hashes=THREE)["k"] == 3
    assert made(storage=None).add("")


def test_the_largest_answers():
    bf = BloomFilter(m=97, n=5, hashes=[lambda key: 2**64 - 1, lambda key: 0])
    assert bf.hashcode("x") == [(2**64 - 1) % 97, 0]


def test_copies_bytes_and_files(tmp_path):
    bf = made()
    bf.update(range(100))
    for back in (bf.copy(), bf | made(), BloomFilter.from_bytes(bf.to_bytes(), hashes=THREE)):
        assert back == bf and 7 in back and back.add("new") and "new" not in bf
    for form in ("bits", "bits-lsb"):  # hashes=[...] alone says scheme="functions"
        sizes = {"m": bf.m, "n": bf.n, "hashes": THREE}
        again = BloomFilter.from_bytes(bf.to_bytes(format=form), format=form, **sizes)
        assert again == bf and again.scheme == "functions"
    bf.save(tmp_path / "f")
    assert BloomFilter.load(tmp_path / "f", hashes=THREE) == bf
    with BloomFilter.open(tmp_path / "f", hashes=THREE) as shared:
        assert shared.add("new") and 7 in shared
    with made(storage=tmp_path / "g") as shared:
        assert shared.add("new")
    with made(storage=tmp_path / "g") as shared:
        assert "new" in shared
    counting = CountingBloomFilter(m=1009, n=50, hashes=THREE)
    counting.update(["a", "a"])
    assert counting.count_of("a") == 2 and counting.remove("a") and counting.count_of("a") == 1


def test_other_functions_are_refused(tmp_path):
    bf = made(storage=tmp_path / "f")
    bf.add("key")
    data = bf.to_bytes()
    bf.close()
    for other in ([crc, adler], [crc, sha, adler], [crc, adler, lambda key: sha(key) ^ 1]):
        with pytest.raises(Error):
            BloomFilter.from_bytes(data, hashes=other)
        with pytest.raises(Error):
            BloomFilter.open(tmp_path / "f", hashes=other)
    for call in (
        lambda: BloomFilter.from_bytes(data),
        lambda: BloomFilter.open(tmp_path / "f"),
        lambda: BloomFilter.load(tmp_path / "f"),
    ):
        with pytest.raises(ValueError, match="needs the hash functions it was created with"):
            call()
    with pytest.raises(Error, match="cannot be pickled: use to_bytes"):
        pickle.dumps(made())


@pytest.mark.parametrize(
    ("hashes", "kind", "text"),
    [
        ([], ValueError, "hash functions must be 1 to 16, got 0"),
        ([crc] * 17, ValueError, "hash functions must be 1 to 16, got 17"),
        ([crc, 5], TypeError, r"hashes\[1\] must be callable, not int"),
        (crc, TypeError, "hashes must be a list of callables, not function"),
        ("crc", TypeError, "hashes must be a list of callables, not str"),
        ([lambda: 1], TypeError, "positional argument"),
        ([lambda key: "1"], TypeError, r"hashes\[0\] must return an int, got str"),
        ([crc, lambda key: True], TypeError, r"hashes\[1\] must return an int, got bool"),
        ([lambda key: 1.5], TypeError, r"hashes\[0\] must return an int, got float"),
        ([lambda key: -1], ValueError, r"hashes\[0\] must return 0 to 18446744073709551615, got -1"),
        ([lambda key: 2**64], ValueError, r"must return 0 to 18446744073709551615, got 18446744073709551616"),
        ([lambda key: 10**5000], ValueError, "got a number too long to print"),
        ([lambda key: 1 // 0], ZeroDivisionError, "zero"),
    ],
)  # fmt: skip
def test_what_is_refused(hashes, kind, text):
    with pytest.raises(kind, match=text):
        BloomFilter(m=1000, n=10, hashes=hashes)


@pytest.mark.parametrize("fault", [TypeError, KeyError])
def test_what_the_iterable_raises_is_not_hidden(fault):
    def functions():
        yield crc
        raise fault("mine")

    with pytest.raises(fault, match="mine"):
        BloomFilter(m=1000, n=10, hashes=functions())


def fails_on(bad, what):
    def function(key):
        if key == bad:
            return what()
        return crc(key)

    return function


def stops():
    raise LookupError("stop")


@pytest.mark.parametrize("storage", [None, "f"])
@pytest.mark.parametrize("at", [0, 64, 500])
def test_a_failure_in_a_batch_keeps_the_keys_before_it(at, storage, tmp_path):
    where = {"storage": tmp_path / storage} if storage else {}
    bf = BloomFilter(m=1_000_003, n=1000, hashes=[sha, fails_on(b"bad", stops)], **where)
    keys = [f"key {i}" for i in range(600)]
    keys[at] = "bad"
    for call in (bf.update, bf.add_many, iter):
        with pytest.raises(LookupError, match="^stop$"):
            list(map(bf.add, keys)) if call is iter else call(keys)
        assert all(key in bf for key in keys[:at])
        assert not any(key in bf for key in keys[at + 1 :])
        with pytest.raises(LookupError):
            _ = "bad" in bf
        with pytest.raises(LookupError):
            bf.hashcode("bad")
        bf.clear()


def test_a_bad_answer_in_a_batch_names_the_key():
    bf = BloomFilter(m=1_000_003, n=1000, hashes=[fails_on(b"bad", lambda: -5)])
    with pytest.raises(ValueError, match=r"key 2: hashes\[0\] must return 0 to") as e:
        bf.update(["a", "b", "bad", "c"])
    assert e.value.index == 2 and "b" in bf and "c" not in bf


def test_what_is_made_from_a_filter_holds_its_hashes():
    """Also after that filter and every other reference to the functions are gone."""
    for kind, make in (
        (BloomFilter, BloomFilter.copy),
        (BloomFilter, lambda bf: bf | bf),
        (CountingBloomFilter, CountingBloomFilter.copy),
        (CountingBloomFilter, CountingBloomFilter.to_plain),
    ):
        function = functools.partial(zlib.crc32)
        gone = weakref.ref(function)
        bf = kind(m=10007, hashes=[function])
        bf.update(range(100))
        made = function.circle = make(bf)
        del bf, function
        gc.collect()
        assert gone() is not None
        assert sum(made.contains_many(range(100))) == 100
        del made
        gc.collect()
        assert gone() is None


def test_a_rebuild_holds_its_keys_while_a_hash_runs():
    """The hash function may empty the list that they come from."""
    keys = [f"key-{i}-" + "x" * 40 for i in range(300)]
    probe, references = keys[200], []

    def crc_and_count(key):
        references.append(sys.getrefcount(probe))
        return zlib.crc32(key)

    bf = BloomFilter(m=100_003, n=1000, hashes=[crc_and_count])
    idle = references[-1]
    references.clear()
    assert bf.rebuild(keys) == 300
    assert max(references) == idle + 1
