"""The constructor, plan() and the properties: which sets of parameters size a filter, and what is
refused."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from bloomfilter import BloomFilter, CountingBloomFilter, Error

pytestmark = pytest.mark.quick


def test_classic_constructor_is_positional():
    bf = BloomFilter(1000, 2)
    assert (bf.m, bf.n, bf.k, bf.scheme) == (1000, 2, 347, "classic")


@pytest.mark.parametrize(
    ("args", "kwargs", "line"),
    [
        ((1_000_000, 0.01), {}, r"write BloomFilter\(n=1000000, p=0.01\)"),
        ((), {"max_elements": 5000, "error_rate": 0.1}, r"'error_rate'.*\(n=5000, p=0.1\)"),
        ((), {"capacity": 5000}, r"'capacity'.*\(n=number of keys, p=rate\), here n=5000"),
        ((), {"error_rate": 0.1}, r"'error_rate'.*here p=0.1"),
    ],
)
def test_who_comes_from_capacity_and_error_rate_is_told_the_line(args, kwargs, line):
    for type_ in BloomFilter, CountingBloomFilter:
        with pytest.raises(TypeError, match=line):
            type_(*args, **kwargs)


def test_every_kind_of_number():
    like = BloomFilter(n=1000, p=0.25)
    for n in (1000, np.int32(1000), np.uint64(1000), 1e3, np.float64(1000)):
        for p in (0.25, Fraction(1, 4), Decimal("0.25"), np.float32(0.25)):
            assert BloomFilter(n=n, p=p) == like


def test_plan_is_what_the_constructor_makes():
    for kwargs in (
        {"m": 1000, "n": 2},
        {"n": 77, "p": 0.1},
        {"n": 1000, "p": 1e-4},
        {"m": 4096, "k": 3, "scheme": "block2"},
        {"n": 1000, "scheme": "php-hashes:BKDRHash,SDBM,JSHash", "overfull": "ignore"},
        {"n": 1e3, "m": 1e4, "k": 3.0, "shards": 2.0},
    ):
        bf = BloomFilter(**kwargs)
        assert BloomFilter.plan(**kwargs) == {
            "m": bf.m,
            "n": bf.n,
            "k": bf.k,
            "p": bf.p,
            "scheme": bf.scheme,
        }


def test_errors_are_valueerrors():
    assert issubclass(Error, ValueError)
    assert Error.__module__ == "bloomfilter"


HUGE = """
from bloomfilter import BloomFilter
for kwargs in ({"n": 10**13, "p": 0.01}, {"n": 2**63 - 1, "p": 0.5}, {"m": 2**40, "n": 1}, {"m": 2**40, "k": 1}):
    try:
        BloomFilter(**kwargs)
        print("made")
    except (ValueError, MemoryError) as e:
        print(type(e).__name__)
"""


def test_a_filter_that_nothing_holds_does_not_end_the_process(run_python):
    got = run_python(HUGE).split()
    assert len(got) == 4 and set(got) <= {"ValueError", "MemoryError"}
