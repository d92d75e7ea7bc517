"""Hostile iterators, keys, clocks, hash functions, buffers, columns and file objects, by fixed seeds:
each may do anything to the filters of the call, raise, or return nonsense.  The outcome is an answer
or an exception; nothing crashes (nox -s python_asan runs this with ASan), and a filter that
is still open has the keys that were added before."""

import array
import functools
import gc
import io
import pickle
import random
import sys

import numpy as np
import pytest

from bloomfilter import BloomFilter, CountingBloomFilter, Error

KEPT = [f"kept {i}" for i in range(40)]
CALLS, ACTS = 60, 300  # of a seed; acts run inside each other


class Mine(Exception):
    """What hostile code raises."""


class World:
    """Two filters, and code that does something to them at every opportunity."""

    def __init__(self, seed, folder):
        self.chance, self.folder, self.depth, self.lists = random.Random(seed), folder, 0, [[]]
        self.quiet, self.left = True, ACTS
        kind = self.chance.choice(["plain", "file", "clock", "grow", "hashes", "counting"])
        self.filters = [self.make(kind, i) for i in range(2)]
        self.lost = set()  # the filters that were cleared, or made again
        for bf in self.filters:
            bf.update(KEPT)
        self.quiet = False

    def make(self, kind, i):
        more = {
            "plain": {},
            "file": {"storage": self.folder / f"{i}.bloom"},
            "clock": {"window": 1e6, "clock": self.clock},
            "grow": {"grow": 2.0},
            "hashes": {"m": 9999, "n": 500, "hashes": [self.digest, len]},
            "counting": {},
        }[kind]
        make = CountingBloomFilter if kind == "counting" else BloomFilter
        sizes = {} if "m" in more else {"n": 500, "p": 1e-4}
        return make(**sizes, **more, overfull="ignore")

    # ---- what hostile code does ----
    def act(self, ends=True):
        if self.quiet or self.depth > 2 or self.left == 0 or self.chance.random() < 0.4:
            return
        self.left -= 1
        self.depth += 1
        try:
            self.chance.choice(self.deeds)(self)
        except (ValueError, TypeError, OSError, Mine, MemoryError):
            pass
        finally:
            self.depth -= 1
        if ends and self.chance.random() < 0.15:
            raise self.chance.choice([Mine, TypeError, ValueError, StopIteration, AttributeError])

    def one(self):
        return self.chance.choice(self.filters)

    def begin_again(self):
        bf = self.one()
        self.lost.add(id(bf))
        bf.__init__(n=50, p=0.01) if self.chance.random() < 0.5 else bf.clear()

    deeds = [
        lambda w: w.one().close(),
        lambda w: w.one().add("inner"),
        lambda w: w.one().update(w.keys()),
        lambda w: w.one().contains_many(["inner", "é", 10**30]),
        lambda w: w.one().copy(),
        lambda w: w.one() | w.one(),
        lambda w: w.one().__ior__(w.one()),
        lambda w: w.one() == w.one(),
        lambda w: w.one().to_bytes(),
        lambda w: pickle.dumps(w.one()),
        lambda w: w.one().info(),
        lambda w: repr(w.one()),
        lambda w: w.one().update_lines(b"a\nb\n"),
        lambda w: w.one().rebuild(iter(KEPT)),
        lambda w: gc.collect(1),  # of what the call has made; a whole one takes too long
        lambda w: [one.clear() for one in w.lists],
        lambda w: [one.extend(["new"] * 700) for one in w.lists],
        begin_again,
    ]

    # ---- hostile objects ----
    def clock(self):
        self.act()
        wrong = [1e9, 1e9, 1e9, 1, "x", float("nan"), 10**400]
        return 1e9 if self.quiet else self.chance.choice(wrong)

    def digest(self, key):
        self.act()
        wrong = [len(key), 7, -1, 2**64, "x", True]
        return len(key) if self.quiet else self.chance.choice(wrong)

    @functools.cached_property
    def kinds(self):
        world = self

        class Index:
            def __index__(self):
                world.act()
                return world.chance.choice([77, 10**30, "x"])

        class Dying(str):
            def __del__(self):
                world.act(ends=False)

        class Exporter:
            def __buffer__(self, flags):
                world.act()
                return world.chance.choice(
                    [memoryview(b"exported"), memoryview(b"12345678").cast("d")]
                )

            def __release_buffer__(self, view):
                world.act(ends=False)

        return Index, lambda: Dying("d"), Exporter

    def key(self):
        made = [kind() for kind in self.kinds]
        return self.chance.choice(
            ["a", "é", b"b", 5, 10**30, None, 1.5, "\ud800", *made, bytearray(b"c")]
        )

    def keys(self):
        world, number = self, self.chance.choice([0, 1, 3, 30, 700, 1100])

        def yielded():
            for i in range(number):
                if i % 50 == 0:
                    world.act()
                yield world.key() if i % 97 == 0 else f"key {i}"

        class Sequence:
            def __len__(self):
                world.act()
                return world.chance.choice([0, 3, 10**9])

            def __getitem__(self, i):
                world.act()
                if i > number:
                    raise IndexError
                return "item"

        class Column:
            columns = property(lambda self: world.refuse())
            dtype = property(lambda self: world.act() or np.dtype(world.chance.choice("Oi")))
            ndim = property(lambda self: world.act() or world.chance.choice([1, 2, "x", 2**70]))
            mask = property(lambda self: world.refuse())

            def __array__(self, *_more, **_copy):
                world.act()
                return world.chance.choice(
                    [np.array(["a", None, 5], object), "text", None, np.eye(2)]
                )

            def __iter__(self):
                world.act()
                return iter(["first", "last"])

            def __arrow_c_stream__(self, requested_schema=None):
                world.act()
                return world.chance.choice([None, 5, ()])

            def __arrow_c_array__(self, requested_schema=None):
                world.act()
                return world.chance.choice([None, (1, 2), (None,), world.refuse])

        listed = [self.key() for _ in range(self.chance.choice([1, 5, 60]))]
        self.lists.append(listed)
        objects = np.empty(len(listed), object)
        for i, key in enumerate(
            listed
        ):  # numpy itself crashes if hostile code empties a list that it reads
            objects[i] = key
        return self.chance.choice(
            [yielded(), Sequence(), Column(), listed, tuple(listed), objects, objects.reshape(1, -1), np.arange(number), array.array("d", [1.0]), set(KEPT[:3])]
        )  # fmt: skip

    def refuse(self):
        self.act()
        raise AttributeError

    def file(self):
        world = self

        class File(io.BytesIO):
            def write(self, data):
                world.act()
                written = super().write(data)
                return world.chance.choice([written, written, None, -1, 0, 10**30, "x"])

            def read(self, size=-1):
                world.act()
                return world.chance.choice(
                    [super().read(size), super().read(size), b"", None, "x", bytearray(b"x")]
                )

        return File(BloomFilter(n=50, p=0.01).to_bytes())

    # ---- the calls ----
    def text(self):
        class Text(dict):
            def get(inner, name, other=None):
                self.act()
                return self.chance.choice(["", 5, None, self.filters[0].to_base64()])

        return Text()

    calls = [
        lambda w, bf: bf.add(w.key()),
        lambda w, bf: w.key() in bf,
        lambda w, bf: bf.hashcode(w.key()),
        lambda w, bf: bf.update(w.keys(), nulls=w.chance.choice(["raise", "skip"])),
        lambda w, bf: bf.add_many(w.keys(), nulls=w.chance.choice(["raise", "skip"])),
        lambda w, bf: bf.contains_many(w.keys()),
        lambda w, bf: bf.contains_mask(w.keys()),
        lambda w, bf: bf.rebuild(w.keys()),
        lambda w, bf: bf.remove_many(w.keys()),
        lambda w, bf: bf.count_of(w.key()),
        lambda w, bf: bf.save(w.file()),
        lambda w, bf: type(bf).load(w.file()),
        lambda w, bf: type(bf).from_json(w.text()),
        lambda w, bf: bf.update_lines(b"x\n" * 50, keep=w.chance.choice([True, None])),
        lambda w, bf: bf.copy() | bf,
        lambda w, bf: len(bf) and bf.is_current and bf.info(),
        lambda w, bf: type(bf)(n=w.key(), p=w.key(), hashes=w.keys()),
        lambda w, bf: type(bf).plan(m=w.key(), n=w.key(), window=w.key()),
    ]

    def run(self):
        for _ in range(CALLS):
            bf = self.one()
            try:
                self.chance.choice(self.calls)(self, bf)
            except (
                ValueError,
                TypeError,
                OSError,
                AttributeError,
                StopIteration,
                RuntimeError,
                MemoryError,
                OverflowError,
                Mine,
            ):
                pass  # fmt: skip
        self.quiet = True
        for bf in self.filters:
            try:
                there = bf.contains_many(KEPT)
            except ValueError as error:
                assert (
                    isinstance(error, Error)
                    or "closed" in str(error)
                    or "hashes" in str(error)
                    or "clock" in str(error)
                )
                continue
            except TypeError as error:
                assert "must return" in str(error)  # a clock or a hash function
                continue
            if id(bf) not in self.lost and bf.scheme != "functions" and not bf.window:
                assert all(there)


@pytest.mark.parametrize("seed", range(40))
def test_hostile_code(seed, quick_folder):
    world = World(seed, quick_folder)
    unraisable, sys.unraisablehook = sys.unraisablehook, lambda _: None
    try:
        world.run()
    finally:
        sys.unraisablehook = unraisable
        world.quiet = True
