"""Random sequences of calls against a plain set: no false negative ever, and `new` never said of an old key."""

import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from bloomfilter import BloomFilter

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
keys = st.one_of(texts, st.binary(max_size=40), st.integers(), st.binary(max_size=40).map(bytearray), st.binary(max_size=40).map(memoryview))


def as_bytes(key):
    return key.encode() if isinstance(key, str) else str(key).encode() if isinstance(key, int) else bytes(key)


class AgainstASet(RuleBasedStateMachine):
    @initialize(scheme=st.sampled_from(["classic", "block", "block2"]), n=st.integers(1, 300), p=st.sampled_from([0.3, 0.01, 1e-6]))
    def make(self, scheme, n, p):
        self.args = {"n": n, "p": p, "scheme": scheme}
        self.bf, self.model = BloomFilter(**self.args), set()

    @rule(key=keys)
    def add(self, key):
        known = as_bytes(key) in self.model
        new = self.bf.add(key)
        assert not (known and new)
        self.model.add(as_bytes(key))

    @rule(batch=st.lists(keys, max_size=200), shape=st.sampled_from([list, tuple, iter]))
    def add_many(self, batch, shape):
        present = [key in self.bf for key in batch]
        new = self.bf.add_many(shape(batch))
        seen = set()
        for key, before, answer in zip(batch, present, new, strict=True):
            assert not (answer and (before or as_bytes(key) in seen))
            seen.add(as_bytes(key))
        self.model |= seen

    @rule(batch=st.lists(keys, max_size=50))
    def update_is_the_sum_of_add_many(self, batch):
        twin = self.bf.copy()
        assert self.bf.update(iter(batch)) == sum(twin.add_many(batch))
        assert self.bf == twin
        self.model |= {as_bytes(key) for key in batch}

    @rule(key=keys)
    def ask_is_the_same_everywhere(self, key):
        answer = key in self.bf
        assert self.bf.existKey(key) is answer and self.bf.contains_many([key]) == bytes([answer])
        bits = self.bf.bitset
        assert answer == all(bits[i // 8] & 0x80 >> i % 8 for i in self.bf.hashcode(key))

    @rule(batch=st.lists(keys, max_size=50))
    def union(self, batch):
        other = BloomFilter(**self.args)
        other.update(batch)
        assert (self.bf | other) & other == other
        self.bf |= other
        self.model |= {as_bytes(key) for key in batch}

    @rule()
    def there_and_back(self):
        self.bf = pickle.loads(pickle.dumps(self.bf))

    @rule()
    def clear(self):
        self.bf.clear()
        self.model.clear()

    @invariant()
    def no_false_negative(self):
        if hasattr(self, "model"):
            assert min(self.bf.contains_many(self.model), default=1) == 1
            assert bool(self.bf) == bool(self.model)


AgainstASet.TestCase.settings = settings(max_examples=60, stateful_step_count=25, deadline=None, derandomize=True)
TestAgainstASet = AgainstASet.TestCase


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


junk = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.binary(max_size=20), st.lists(st.integers(), max_size=2))


@given(kwargs=st.dictionaries(st.sampled_from(["m", "n", "k", "p", "scheme", "key", "secret", "grow", "window", "shards"]), junk, max_size=6))
@settings(max_examples=1500, deadline=None, derandomize=True)
def test_any_arguments_to_plan(kwargs):
    try:
        plan = BloomFilter.plan(**kwargs)
    except (TypeError, ValueError):
        return
    assert plan["m"] > 0 and plan["n"] > 0 and plan["k"] > 0 and 0 <= plan["p"] <= 1


@given(data=st.binary(max_size=5000))
@settings(max_examples=300, deadline=None, derandomize=True)
def test_any_bytes_to_from_bytes(data):
    with pytest.raises(ValueError):
        BloomFilter.from_bytes(data)
