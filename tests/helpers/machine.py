"""State machines: random sequences of calls on a filter in some home, against a model that is
exact, and against a twin, a filter in memory that is told the same keys one by one.

    Machine            what holds of all filters: no false negative ever, `new` never said of an old
    key, and the twin's answers
      `- OfSets        models.py: a set of keys, for fixed filters of bits and growing ones
      `- OfCounts      a Counter: filters whose keys can be removed
      `- OfTimes       when each key was added last: filters that forget

Where the home is shared there are two handles on the filter, and every call goes to either.
homes.py says what homes there are."""

import array
import os
import pickle

import numpy
import pytest
from bloomfilter import Error
from homes import Clock
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

# In every run the same examples, in bounded time, also where one fails.
# BLOOMFILTER_PROPERTIES=long: others each time, BLOOMFILTER_EXAMPLES of each home.
settings.register_profile(
    "short",
    max_examples=12,
    stateful_step_count=25,
    deadline=None,
    derandomize=True,
    print_blob=True,
    phases=[Phase.generate],
)
settings.register_profile(
    "long",
    max_examples=int(os.environ.get("BLOOMFILTER_EXAMPLES", "500")),
    stateful_step_count=50,
    deadline=None,
    print_blob=True,
)
CHOSEN = settings.get_profile(os.environ.get("BLOOMFILTER_PROPERTIES", "short"))

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
keys = st.one_of(
    st.integers(0, 50),
    st.integers(0, 50).map(str),
    texts,
    st.binary(max_size=40),
    st.integers(),
    st.binary(max_size=9).map(bytearray),
    st.binary(max_size=9).map(memoryview),
)
lists = st.lists(keys, max_size=40)
which = st.integers(0, 1)
ranges = st.builds(
    lambda start, size: range(start, start + size),
    st.integers(0, 300),
    st.one_of(st.integers(0, 20), st.integers(0, 700)),
)


def as_bytes(key):
    return (
        key.encode()
        if isinstance(key, str)
        else str(key).encode()
        if isinstance(key, int)
        else bytes(key)
    )


class Machine(RuleBasedStateMachine):
    home = None  # see for_home
    sizes = {"n": st.integers(1, 300), "p": st.sampled_from([0.3, 0.01, 1e-6])}
    same_bits = same_answers = True  # as the twin

    # ---- the filter, its handles, its twin ----
    @initialize(data=st.data(), scheme=st.sampled_from(["classic", "block", "block2"]))
    def make(self, data, scheme):
        self.clock = Clock()
        row, place = self.home.variant, self.home.place
        self.known = row.known | ({"clock": self.clock} if "window" in row.shape else {})
        self.shape = {
            "scheme": scheme,
            **{name: data.draw(size, name) for name, size in self.sizes.items()},
            **row.shape,
        }
        self.opening = self.known | (row.in_redis if place.redis else {})
        self.where = place.new()
        self.handles = [self.construct()]
        assert self.handles[0].created
        if place.shared:
            self.handles.append(self.open())
        self.twin = self.fresh()
        self.forget_all()

    def construct(self):
        return self.home.variant.kind(**self.shape, **self.opening, **self.where)

    def open(self, **more):
        return self.home.variant.kind.open(**self.where, **self.opening, **more)

    def fixed(self):
        return "grow" not in self.shape

    def fresh(self):
        """An empty filter in memory of the same kind."""
        return self.home.variant.kind(**self.shape, **self.known)

    def one(self, which):
        return self.handles[which % len(self.handles)]

    def teardown(self):
        if not hasattr(self, "handles"):
            return
        try:
            for bf in self.handles:
                self.has_all(bf)
        finally:
            for bf in self.handles:
                bf.close()
            self.home.place.remove(self.where)

    def cached(self):
        return self.home.place.redis and "cache" in self.home.variant.in_redis

    def shrunk(self, by):
        """Keys went: with cache=True the other handles may not know, for as long as cache_max_age;
        so they must look."""
        for i, bf in enumerate(self.handles):
            if self.cached() and bf is not by:
                shards = self.shape.get("shards", 1)
                if shards > 1 or all(f"probe {n}" in bf for n in range(30)):
                    bf.close()
                    self.handles[i] = self.open()

    # ---- what must hold ----
    def has_all(self, bf, of=None):
        must = list(self.must() if of is None else of)
        missing = [
            key for key, there in zip(must, bf.contains_many(must), strict=True) if not there
        ]
        assert not missing, f"false negatives: {missing[:5]}, {len(missing)} in all"

    @invariant()
    def no_false_negative(self):
        if not hasattr(self, "handles"):
            return
        must = self.must()
        some = must[:: 1 + len(must) // 100] + must[-20:]
        for bf in self.handles:
            self.has_all(bf, some)

    @invariant()
    def bits_are_the_twins(self):
        for bf in getattr(self, "handles", []):
            assert not self.same_bits or bf.bitset == self.twin.bitset
            assert not self.same_answers or bf == self.twin

    def answers(self, batch, new, known):
        """After an add of the batch, of which those at `known` were there: what was answered,
        against twin and model."""
        seen = set()
        twins = bytes(self.twin.add(key) for key in batch)
        for key, answer, was, twin in zip(batch, new, known, twins, strict=True):
            assert not (answer and (was or as_bytes(key) in seen)), f"{key!r} is said to be new"
            assert not self.same_answers or answer == twin
            seen.add(as_bytes(key))
            self.note(as_bytes(key))

    def known_of(self, batch):
        return [self.has(as_bytes(key)) for key in batch]

    # ---- keys in ----
    @rule(which=which, key=keys)
    def add(self, which, key):
        known = self.known_of([key])
        self.answers([key], [self.one(which).add(key)], known)

    @rule(
        which=which,
        batch=lists,
        shape=st.sampled_from([list, tuple, iter, lambda batch: (key for key in batch)]),
    )
    def add_many(self, which, batch, shape):
        known = self.known_of(batch)
        self.answers(batch, self.one(which).add_many(shape(batch)), known)

    @rule(which=which, batch=lists, shape=st.sampled_from([list, iter]))
    def update(self, which, batch, shape):
        before = self.twin.copy()
        fresh = self.one(which).update(shape(batch))
        assert not self.same_answers or fresh == sum(before.add_many(batch))
        self.learn(batch)

    @rule(
        which=which,
        numbers=ranges,
        shape=st.sampled_from([list, numpy.array, lambda numbers: array.array("q", numbers)]),
    )
    def add_numbers(self, which, numbers, shape):
        known = self.known_of(numbers)
        self.answers(numbers, self.one(which).add_many(shape(numbers)), known)

    @rule(
        which=which,
        lines=st.lists(st.binary(max_size=9).filter(lambda key: b"\n" not in key), max_size=30),
    )
    def update_lines(self, which, lines):
        data = b"".join(line + b"\n" for line in lines)
        before = self.twin.copy()
        count, fresh, consumed, _ = self.one(which).update_lines(data)
        assert (count, consumed) == (len(lines), len(data))
        assert not self.same_answers or fresh == sum(before.add_many(lines))
        self.learn(lines)

    @rule(
        which=which,
        batch=lists,
        rest=lists,
        bad=st.sampled_from([None, 1.5, True, "\ud800"]),
        shape=st.sampled_from([list, iter]),
    )
    def a_bad_key_in_the_middle(self, which, batch, rest, bad, shape):
        with pytest.raises((TypeError, ValueError), match=f"^key {len(batch)}: "):
            self.one(which).update(shape([*batch, bad, *rest]))
        self.learn(batch)
        with pytest.raises((TypeError, ValueError), match=f"^key {len(batch)}: "):
            self.one(which).contains_many(shape([*batch, bad, *rest]))

    def learn(self, batch):
        for key in batch:
            self.twin.add(key)
            self.note(as_bytes(key))

    def grow_by(self, which, batch):
        """So many keys that parts are appended."""
        fresh = self.one(which).update(list(batch))
        expected = self.twin.update(batch)
        assert not self.same_answers or fresh == expected
        for key in batch:
            self.note(as_bytes(key))
        self.has_all(self.one(which + 1))

    # ---- questions ----
    @rule(which=which, key=keys)
    def ask(self, which, key):
        bf = self.one(which)
        answer = key in bf
        assert bf.existKey(key) is answer and bf.contains_many([key]) == bytes([answer])
        assert answer or not self.has(as_bytes(key))
        assert not self.same_answers or answer == (key in self.twin)
        assert len(bf.hashcode(key)) == bf.k == self.twin.k

    @rule(which=which, batch=st.one_of(lists, ranges), shape=st.sampled_from([list, iter, tuple]))
    def ask_many(self, which, batch, shape):
        present = self.one(which).contains_many(shape(batch))
        assert len(present) == len(batch) and not any(
            was and not there for was, there in zip(self.known_of(batch), present, strict=True)
        )
        assert not self.same_answers or present == self.twin.contains_many(batch)

    # ---- sets ----
    def other(self, batch):
        """Another filter with these keys, and what a model of it is."""
        bf = self.fresh()
        bf.update(batch)
        return bf

    @rule(which=which, batch=lists, by=st.sampled_from(["|=", "update"]))
    def union(self, which, batch, by):
        other, bf = self.other(batch), self.one(which)
        try:
            expected = self.twin | other
        except ValueError:  # filters that grow, and did not grow alike, or count
            assert not self.fixed()
            return
        if not self.same_bits and not self.fixed():
            return self.learn_union(batch) if self.try_union(bf, other) else None
        result = bf | other
        self.has_all(result)
        self.has_all(result, self.still(batch))
        assert result == expected or not (self.same_bits or self.same_answers)
        if by == "update":
            bf.update(other)
        else:
            bf |= other
        self.twin |= other
        self.learn_union(batch)

    def still(self, batch):
        """Which keys of another filter are there after a union."""
        return map(as_bytes, batch)

    def try_union(self, bf, other):
        try:
            bf |= other
        except ValueError:
            return False
        self.twin |= other
        return True

    def learn_union(self, batch):
        for key in batch:
            self.note(as_bytes(key))

    @rule(which=which)
    def copy_is_on_its_own(self, which):
        bf = self.one(which)
        twin = bf.copy()
        assert twin == bf and twin.storage is None
        self.has_all(twin)
        twin.clear()
        twin.add("only in the copy")

    @rule(which=which, batch=lists)
    def refuse_other_parameters(self, which, batch):
        bf, other = (
            self.one(which),
            self.home.variant.kind(**self.shape | {"n": self.shape["n"] + 977}, **self.known),
        )
        other.update(batch)
        with pytest.raises(ValueError, match="same|equal sizes|count and grow cannot be united"):
            bf |= other
        assert bf != other

    @rule(which=which)
    def clear(self, which):
        bf = self.one(which)
        bf.clear()
        self.twin.clear()
        self.forget_all()
        self.shrunk(bf)
        assert all(not bool(handle) for handle in self.handles)

    # ---- other handles, other homes ----
    @rule(which=which)
    def sync(self, which):
        self.one(which).sync()

    @rule(which=which, by=st.sampled_from(["open", "constructor", "read only"]))
    @precondition(lambda self: self.home.place.shared)
    def reopen(self, which, by):
        self.one(which).close()
        if by == "read only":
            with self.open(read_only=True) as reader:
                self.has_all(reader)
                assert not self.same_answers or reader == self.twin
                with pytest.raises(Error, match="read-only"):
                    reader.add("no")
        self.handles[which] = self.construct() if by == "constructor" else self.open()
        assert not self.handles[which].created

    @rule(which=which)
    def save_load_open(self, which):
        path = self.home.folder / "saved.bloom"
        self.one(which).save(path)
        for how in (self.home.variant.kind.load, self.home.variant.kind.open):
            with how(path, **self.known) as again:
                self.has_all(again)
                assert again == self.one(which) and (not self.same_answers or again == self.twin)
                again.add("more")

    @rule(which=which, to=st.integers(0, 3))
    def take_to_another_home(self, which, to):
        again = self.home.variant.kind.from_bytes(self.one(which).to_bytes(), **self.known)
        self.has_all(again)
        assert again == self.one(which)
        place = self.home.others[to % len(self.home.others)]
        where, in_redis = place.new(), self.home.variant.in_redis if place.redis else {}
        try:
            with self.home.variant.kind(**self.shape, **self.known, **in_redis, **where) as there:
                self.unite_if_alike(there, again)
        finally:
            if not place.redis:  # there all goes at the end
                place.remove(where)

    def unite_if_alike(self, there, again):
        counts = hasattr(again, "remove")
        if not self.fixed() and counts:
            with pytest.raises(ValueError, match="cannot be united"):
                there |= again
            return
        there |= again
        self.has_all(there)
        assert there == again
        if there.info()["home"] == "redis":
            there.delete()

    @rule(which=which)
    def pickled(self, which):
        bf = self.one(which)
        if "secret" in self.known or "clock" in self.known or self.home.place.name == "client":
            with pytest.raises(Error):
                pickle.dumps(bf)
            return
        again = pickle.loads(pickle.dumps(bf))
        assert type(again) is type(bf) and again.storage == bf.storage
        self.has_all(again)
        bf.close()
        self.handles[which % len(self.handles)] = again

    @rule()
    @precondition(lambda self: not self.home.place.shared)
    def bytes_and_back(self):
        self.handles = [self.home.variant.kind.from_bytes(self.handles[0].to_bytes(), **self.known)]
