"""Hash functions that fail on ordinary keys are named once, when a filter with them is made or
opened."""

import warnings

import pytest

from bloomfilter import BloomFilter

ALL = "php-hashes:JS,PJW,ELF,BKDR,SDBM,DJB,DEK,FNV,RS,AP"


def told(make):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        made = make()
    assert all(w.filename == __file__ for w in seen)
    return made, [str(w.message) for w in seen]


def test_once_for_all_of_them_and_where_it_is_opened():
    bf, said = told(lambda: BloomFilter(scheme=ALL, n=100))
    assert (
        len(said) == 1
        and "value of PJW, ELF, BKDR, SDBM, DJB, DEK, RS, so" in said[0]
        and said[0].endswith('another system fills, or pass overfull="ignore"')
    )
    bf.add("key")
    assert told(bf.copy)[1] == []  # of a filter that was told of
    bits = {"format": "bits", "scheme": ALL}
    assert len(told(lambda: BloomFilter.from_bytes(bytes(1000), **bits))[1]) == 1
    assert told(lambda: BloomFilter(scheme=ALL, n=100, warn=False))[1] == []
    for scheme in ("classic", "java7", "gozero"):
        assert told(lambda: BloomFilter(m=1024, n=50, scheme=scheme))[1] == []


def test_as_an_error_nothing_is_made():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="same value of BKDR, SDBM,"):
            BloomFilter(scheme="php-hashes:BKDR,SDBM,JS", n=100)
        BloomFilter(scheme="php-hashes:JS,FNV,AP", n=100)
