"""Random sequences of calls against a model, in memory and in files (machine.py); random keys,
arguments and bytes. Those of filters in Redis are in test_properties_redis.py."""

import models
import pytest
from bloomfilter import BloomFilter
from homes import home, homes_in
from hypothesis import given, settings
from hypothesis import strategies as st
from machine import texts


@pytest.mark.filterwarnings("ignore::bloomfilter.SaturationWarning")
@pytest.mark.parametrize("variant, place", homes_in("memory", "file"))
def test_against_a_model(variant, place, quick_folder):
    models.run(home(variant, place, quick_folder))


@given(text=texts)
@settings(max_examples=300, deadline=None, derandomize=True)
def test_text_is_its_utf8(text):
    bf = BloomFilter(1000, 10)
    assert bf.hashcode(text) == bf.hashcode(text.encode())


@given(text=st.text(st.characters(), min_size=1, max_size=30))
@settings(max_examples=300, deadline=None, derandomize=True)
def test_text_is_refused_exactly_where_python_refuses(text):
    bf = BloomFilter(1000, 10)
    try:
        encoded = text.encode()
    except UnicodeEncodeError:
        with pytest.raises(ValueError):
            bf.add(text)
    else:
        assert bf.add(text) and encoded in bf


@given(number=st.integers())
@settings(max_examples=300, deadline=None, derandomize=True)
def test_an_int_is_its_decimal_text(number):
    bf = BloomFilter(1000, 10)
    assert bf.hashcode(number) == bf.hashcode(str(number))
