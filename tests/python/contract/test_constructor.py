"""The constructor, plan() and the properties: which sets of parameters size a filter, and what is
refused."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from names import plain

from bloomfilter import BloomFilter, CountingBloomFilter, Error


def test_classic_constructor_is_positional():
    bf = BloomFilter(1000, 2)
    assert (bf.m, bf.n, bf.k, bf.scheme) == (1000, 2, 347, "classic")


@pytest.mark.parametrize(
    ("args", "kwargs", "line"),
    [
        ((1_000_000, 0.01), {}, r"write BloomFilter\(n=1000000, p=0.01\)"),
        ((), {"capacity": 5000, "error_rate": 0.1}, r"write BloomFilter\(n=5000, p=0.1\)"),
        ((), {"max_elements": 5000, "error_rate": 0.1}, r"'error_rate'.*\(n=5000, p=0.1\)"),
        (
            (),
            {"capacity": 5000},
            r"'capacity'.*BloomFilter\(n=number of keys, p=rate\), here n=5000",
        ),
        ((), {"error_rate": 0.1}, r"'error_rate'.*here p=0.1"),
    ],
)
def test_who_comes_from_capacity_and_error_rate_is_told_the_line(args, kwargs, line):
    for type_ in BloomFilter, CountingBloomFilter:
        with pytest.raises(TypeError, match=line):
            type_(*args, **kwargs)


def test_by_rate():
    bf = BloomFilter(n=1_000_000, p=0.01)
    assert (bf.n, bf.p, bf.scheme) == (1_000_000, 0.01, "block")
    assert bf.m % 512 == 0 and bf.m / bf.n < 10
    assert BloomFilter(n=1000, p=1e-4).scheme == "block2"


def test_m_and_k():
    bf = BloomFilter(m=1000, k=7)
    assert (bf.m, bf.k, bf.n) == (1000, 7, 99)


def test_m_n_k():
    bf = BloomFilter(m=1000, n=100, k=3)
    assert (bf.m, bf.n, bf.k) == (1000, 100, 3)
    assert bf.p == pytest.approx(0.01741, rel=1e-3)


def test_scheme_by_name(scheme):
    bf = BloomFilter(n=1000, p=0.01, scheme=scheme)
    assert bf.scheme == scheme
    assert bf.update(range(1000)) > 950


def test_every_kind_of_number():
    like = BloomFilter(n=1000, p=0.25)
    for n in (1000, np.int32(1000), np.uint64(1000)):
        for p in (0.25, Fraction(1, 4), Decimal("0.25"), np.float32(0.25)):
            assert BloomFilter(n=n, p=p) == like


def test_plan_allocates_nothing():
    plan = BloomFilter.plan(n=10_000_000_000, p=0.01)
    assert plan["n"] == 10_000_000_000 and plan["m"] > 9 * plan["n"]
    assert sorted(plan) == ["k", "m", "n", "p", "scheme"]


def test_plan_is_what_the_constructor_makes():
    for kwargs in (
        {"m": 1000, "n": 2},
        {"n": 77, "p": 0.1},
        {"m": 4096, "k": 3, "scheme": "block2"},
    ):
        bf = BloomFilter(**kwargs)
        assert BloomFilter.plan(**kwargs) == {
            "m": bf.m,
            "n": bf.n,
            "k": bf.k,
            "p": bf.p,
            "scheme": bf.scheme,
        }


def test_bitset():
    bf = BloomFilter(1001, 100)
    assert bf.bitset == bytes(126)
    bf.add("x")
    bits = bf.bitset
    for position in set(bf.hashcode("x")):
        assert bits[position // 8] & 0x80 >> position % 8
    assert sum(byte.bit_count() for byte in bits) == len(set(bf.hashcode("x")))


OUT_OF_RANGE = (
    [
        ({"m": value, "n": 1}, "m", value)
        for value in (0, -1, -5, 2**40 + 1, 2**63, 2**64, 10**30, -(10**30))
    ]
    + [({"n": value, "p": 0.01}, "n", value) for value in (0, -1, 2**63, 2**64, 10**30)]
    + [
        ({"m": 1000, "k": value}, "k", value)
        for value in (0, -1, 4097, 2**32, 2**32 + 1, 2**63, 10**30)
    ]
    + [
        ({"n": 10, "p": value}, "p", value)
        for value in (
            0,
            0.0,
            -0.0,
            1,
            1.0,
            2,
            -0.5,
            float("nan"),
            float("inf"),
            float("-inf"),
            10**400,
        )
    ]
    + [
        ({"n": 10, "p": 0.1, "grow": value}, "grow", value)
        for value in (0, 1, 1.0, -2, float("nan"))
    ]
    + [({"n": 10, "p": 0.1, "window": value}, "window", value) for value in (0, -1.5, float("nan"))]
    + [({"n": 10, "p": 0.1, "shards": value}, "shards", value) for value in (0, -1, 4097, 2**32)]
)


@pytest.mark.parametrize("make", [BloomFilter, BloomFilter.plan], ids=["BloomFilter", "plan"])
@pytest.mark.parametrize("kwargs, name, value", OUT_OF_RANGE, ids=lambda v: str(v)[:40])
def test_out_of_range_is_a_valueerror_with_the_value(make, kwargs, name, value):
    with pytest.raises(ValueError) as e:
        make(**kwargs)
    assert type(e.value) is ValueError
    assert name in str(e.value) and str(value)[:20] in str(e.value)


def test_a_number_too_long_to_print():
    with pytest.raises(ValueError, match="^m must be"):
        BloomFilter(m=10**5000, n=1)


@pytest.mark.parametrize(
    "kwargs",
    [
        {"m": True, "n": 1},
        {"m": 10, "n": True},
        {"m": 10, "k": False},
        {"n": 1, "p": True},
        {"m": 1.0, "n": 1},
        {"m": "1", "n": 1},
        {"n": 1, "p": "0.1"},
        {"n": 1, "p": 1j},
        {"n": 1, "p": []},
        {"n": 1, "p": 0.1, "scheme": 3},
        {"n": 1, "p": 0.1, "scheme": b"block"},
        {"n": 1, "p": 0.1, "secret": "a" * 16},
        {"n": 1, "p": 0.1, "secret": 16},
        {"storage": 3},
        {"storage": 1.5},
        {"storage": object()},
        {"n": 1, "p": 0.1, "key": 3},
        {"m": np.bool_(True), "n": 1},
        {"wrong": 1},
        {"n": 1, "p": 0.1, "grow": "2"},
    ],
    ids=plain,
)
def test_wrong_types_are_typeerrors(kwargs):
    with pytest.raises(TypeError):
        BloomFilter(**kwargs)


def test_more_than_four_positional_arguments():
    with pytest.raises(TypeError):
        BloomFilter(1000, 2, None, None, "classic")


@pytest.mark.parametrize(
    "kwargs", [{}, {"n": 1}, {"m": 1}, {"k": 1}, {"p": 0.5}, {"n": 10, "k": 3}], ids=str
)
def test_too_few_parameters(kwargs):
    with pytest.raises(ValueError):
        BloomFilter(**kwargs)


def test_unknown_scheme_is_named():
    with pytest.raises(ValueError, match="nosuch"):
        BloomFilter(n=1, p=0.1, scheme="nosuch")
    with pytest.raises(ValueError):
        BloomFilter(n=1, p=0.1, scheme="block\0")


@pytest.mark.parametrize("length", [0, 1, 15, 17, 1000])
def test_secret_of_the_wrong_length(length):
    with pytest.raises(ValueError, match=str(length)):
        BloomFilter(n=10, p=0.1, secret=bytes(length))


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
