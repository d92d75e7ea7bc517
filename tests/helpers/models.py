"""The models that machine.py's state machine is checked against: a set of keys, a Counter, the
times of last adds.  Each brings the calls that only its kind of filter has."""

import collections
import os
from math import floor

import pytest
from bloomfilter import BloomFilter, Error
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule, run_state_machine_as_test
from machine import CHOSEN, Machine, as_bytes, keys, lists, which


class OfSets(Machine):
    def forget_all(self):
        self.model = {}

    def note(self, key):
        self.model[key] = True

    def has(self, key):
        return key in self.model

    def must(self):
        return list(self.model)

    @property
    def same_bits(self):
        """A client of a growing filter in Redis counts its keys there now and then: with two, a
        part ends elsewhere."""
        return self.fixed() or not self.home.place.redis

    @property
    def same_answers(self):
        return self.same_bits

    @rule(which=which, batch=lists)
    def intersection(self, which, batch):
        bf, other = self.one(which), self.other(batch)
        if not self.fixed():
            with pytest.raises(ValueError, match="cannot be intersected"):
                bf &= other
            return
        common = [key for key in map(as_bytes, batch) if key in self.model]
        result = bf & other
        self.has_all(result, common)
        assert result == self.twin & other
        bf &= other
        self.twin &= other
        self.model = dict.fromkeys(common, True)
        self.shrunk(bf)

    @rule(which=which, batch=lists)
    def rebuild(self, which, batch):
        bf = self.one(which)
        rebuilds = self.fixed() or self.home.place.redis
        if not rebuilds or (os.name == "nt" and self.home.place.name == "file"):
            with pytest.raises(Error, match="cannot be rebuilt"):
                bf.rebuild(batch)
            return
        self.twin = self.other(batch)
        assert bf.rebuild(iter(batch)) == sum(self.fresh().add_many(batch))
        self.model = dict.fromkeys(map(as_bytes, batch), True)
        self.shrunk(bf)

    @rule(which=which, start=st.integers(0, 10**6), size=st.sampled_from([1000, 30_000]))
    @precondition(lambda self: not self.fixed() and len(self.model) < 60_000)
    def many_more(self, which, start, size):
        self.grow_by(which, range(start, start + size))


class OfCounts(Machine):
    def forget_all(self):
        self.model = collections.Counter()

    def note(self, key):
        self.model[key] += 1

    def has(self, key):
        return self.model[key] > 0

    def must(self):
        return [key for key, count in self.model.items() if count > 0]

    def surely(self, batch):
        """Those that may be removed: they were added, or are surely absent now.  A false positive
        would take from others."""
        left = collections.Counter(self.model)
        for key in batch:
            if left[as_bytes(key)] > 0:
                left[as_bytes(key)] -= 1
                yield key
            elif key not in self.twin:
                yield key

    @rule(
        which=which,
        batch=lists,
        again=st.booleans(),
        how=st.sampled_from(["one by one", list, iter]),
    )
    def remove(self, which, batch, again, how):
        batch = list(self.surely(batch + list(self.model)[:20] * (1 + again)))
        known, bf = [], self.one(which)
        removed = (
            bytes(map(bf.remove, batch)) if how == "one by one" else bf.remove_many(how(batch))
        )
        for key in batch:
            known.append(self.has(as_bytes(key)))
            self.model[as_bytes(key)] -= known[-1]
        # Of keys that were removed altogether some may look present still: counters that others
        # share, and those at 15.
        assert all(gone for gone, was in zip(removed, known, strict=True) if was)
        assert removed == bytes(map(self.twin.remove, batch))

    @rule(which=which, key=keys, times=st.integers(1, 20))
    def add_often(self, which, key, times):
        known = [self.has(as_bytes(key))] + [True] * (times - 1)
        self.answers([key] * times, self.one(which).add_many([key] * times), known)

    @rule(which=which, batch=lists)
    def count(self, which, batch):
        bf = self.one(which)
        counts = bf.count_many(batch)
        assert (
            list(counts) == [bf.count_of(key) for key in batch] == list(self.twin.count_many(batch))
        )
        assert all(
            count >= min(self.model[as_bytes(key)], 15)
            for key, count in zip(batch, counts, strict=True)
        )

    @rule(which=which, start=st.integers(0, 10**6))
    @precondition(lambda self: not self.fixed() and len(self.model) < 6_000)
    def many_more(self, which, start):
        self.grow_by(which, range(start, start + 1000))

    @rule(which=which)
    def as_plain(self, which):
        plain = self.one(which).to_plain()
        self.has_all(plain)
        assert type(plain) is BloomFilter
        assert (len(plain), plain.fill_ratio) == (len(self.twin), self.twin.fill_ratio)

    @rule(which=which, batch=lists)
    def intersection(self, which, batch):
        bf, other, counts = (
            self.one(which),
            self.other(batch),
            collections.Counter(map(as_bytes, batch)),
        )
        if not self.fixed():
            with pytest.raises(ValueError, match="cannot be intersected"):
                bf &= other
            return
        result = bf & other
        assert result == self.twin & other
        common = self.model & counts
        assert all(result.count_of(key) >= min(count, 15) for key, count in common.items())
        if self.home.place.redis:
            with pytest.raises(Error):
                bf &= other
            return
        bf &= other
        self.twin &= other
        self.model = common


class OfTimes(Machine):
    """Times are those of the promise: a key is there for `window` seconds, and gone a part later at
    the latest.  What the newest add was told counts as now for a clock that went back."""

    sizes = {"n": st.just(3000), "p": st.just(1e-9)}

    def forget_all(self):
        self.model = {}
        self.newest = getattr(self, "newest", float("-inf"))

    @property
    def same_bits(self):
        """In Redis the parts of the past are not there any more."""
        return not self.home.place.redis

    def step(self):
        return self.shape["window"] / self.shape["parts"]

    def now(self):
        return max(self.clock.now, self.newest)

    def note(self, key):
        self.newest = max(self.newest, floor(self.now() / self.step()) * self.step())
        self.model[key] = self.now()

    def has(self, key):
        return key in self.model and self.now() < self.model[key] + self.shape["window"]

    def must(self):
        return [key for key in self.model if self.has(key)]

    def still(self, batch):
        """Not what is too old for a filter that has seen a later time."""
        return map(as_bytes, batch) if self.now() < self.clock.now + self.shape["window"] else []

    def learn_union(self, batch):
        self.learn_ages(dict.fromkeys(map(as_bytes, batch), self.clock.now))

    def learn_ages(self, ages):
        for key, at in ages.items():
            self.newest = max(self.newest, floor(at / self.step()) * self.step())
            self.model[key] = max(at, self.model.get(key, at))

    @rule(
        seconds=st.one_of(
            st.sampled_from([1, 15, 16, 17, 63, 64, 80, 81, 1000, -1, -16, -100]), st.floats(0, 40)
        )
    )
    def time_passes(self, seconds):
        self.clock.now += seconds
        gone = [
            key
            for key, at in self.model.items()
            if self.now() >= at + self.shape["window"] + self.step()
        ]
        for bf in self.handles:
            assert not any(bf.contains_many(gone))

    @rule(
        which=which,
        batch=lists,
        later=lists,
        seconds=st.sampled_from([0, 10, 20, 60]),
        by=st.sampled_from(["into", "out of"]),
    )
    def union_over_time(self, which, batch, later, seconds, by):
        """Keys of different ages, from a filter that saw them while this one saw none."""
        other = self.other(batch)
        ages = dict.fromkeys(map(as_bytes, batch), self.clock.now)
        self.clock.now += seconds
        other.update(later)
        ages |= dict.fromkeys(map(as_bytes, later), self.clock.now)
        if by == "out of":
            other |= self.one(which)
            self.has_all(other)
            self.has_all(
                other, [key for key, at in ages.items() if self.now() < at + self.shape["window"]]
            )
            return
        bf = self.one(which)
        bf |= other
        self.twin |= other
        self.learn_ages(ages)


def for_home(home):
    """The machine of this home, as a class of its own."""
    base = (
        OfTimes
        if "window" in home.variant.shape
        else OfCounts
        if hasattr(home.variant.kind, "remove")
        else OfSets
    )
    return type(f"{base.__name__}In{home.place.name}", (base,), {"home": home})


def run(home):
    run_state_machine_as_test(for_home(home), settings=CHOSEN)
