"""The homes of a filter, for the property tests: how one is made there, opened once more, and
thrown away.

A place is where the bits live, a variant what kind of filter it is; a home is the two.  Knows
arguments; knows nothing of what is asked of a filter."""

import contextlib
import itertools
from dataclasses import dataclass, field
from typing import Any

from bloomfilter import BloomFilter, CountingBloomFilter

SECRET = bytearray(range(16))


class Clock:
    """Of a test's own: seconds that pass when it says so."""

    def __init__(self):
        self.now = 1e9

    def __call__(self):
        return self.now


# ---- places: new() gives the arguments that lead to a filter that is not there yet ----
class Memory:
    name, shared, redis = "memory", False, False

    def new(self):
        return {}

    def remove(self, where):
        pass


class Folder:
    name, shared, redis = "file", True, False

    def __init__(self, folder):
        self.folder, self.numbers = folder, itertools.count()

    def new(self):
        return {"storage": self.folder / f"{next(self.numbers)}.bloom"}

    def remove(self, where):
        with contextlib.suppress(FileNotFoundError):
            where["storage"].unlink()


class ByURL:
    name, shared, redis = "URL", True, True

    def __init__(self, server):
        self.server, self.numbers = server, itertools.count()

    def new(self):
        return {"storage": self.server.url(f"filter{next(self.numbers)}")}

    def remove(self, where):
        self.server("FLUSHALL")


class ByClient(ByURL):
    name = "client"

    def __init__(self, server, client):
        super().__init__(server)
        self.client = client

    def new(self):
        return {"storage": self.client, "key": f"filter{next(self.numbers)}"}


# ---- variants ----
@dataclass
class Variant:
    """shape: what a constructor is told; known: what every opener must know; in_redis: what goes to
    Redis filters."""

    places: str
    kind: type = BloomFilter
    shape: dict[str, Any] = field(default_factory=dict)
    known: dict[str, Any] = field(default_factory=dict)
    in_redis: dict[str, Any] = field(default_factory=dict)


CACHED = {"cache": True, "cache_max_age": 1e6}
VARIANTS = {
    "plain": Variant("memory file URL client"),
    "shards": Variant("memory file URL client", shape={"shards": 3}),
    "cache": Variant("URL client", in_redis=CACHED),
    "cache of shards": Variant("URL", shape={"shards": 3}, in_redis=CACHED),
    "keyed": Variant("memory file URL client", known={"secret": SECRET}),
    "grow": Variant("memory file URL", shape={"grow": 2.0}),
    "keyed, grow": Variant("file", shape={"grow": 1.5}, known={"secret": SECRET}),
    "window": Variant("memory file URL", shape={"window": 64.0, "parts": 4}),
    "window of 1": Variant("memory file URL", shape={"window": 16.0, "parts": 1}),
    "counting": Variant("memory file URL client", kind=CountingBloomFilter),
    "counting, grow": Variant(
        "memory file URL client", kind=CountingBloomFilter, shape={"grow": 2.0}
    ),
    "keyed, counting": Variant("file", kind=CountingBloomFilter, known={"secret": SECRET}),
}


class Home:
    """One variant at one place; `others`: the places its filters can be taken to; `folder`: for
    saved files."""

    def __init__(self, name, place, others, folder):
        self.name, self.place, self.others, self.folder = name, place, others, folder
        self.variant = VARIANTS[name]

    def __repr__(self):
        return f"{self.name} in {self.place.name}"


def homes_in(*names):
    """(variant, place) of all homes in these places."""
    return [
        (variant, name)
        for variant, row in VARIANTS.items()
        for name in names
        if name in row.places.split()
    ]


def home(variant, place, folder, more=()):
    """more: places beside memory and the folder."""
    places = {one.name: one for one in (Memory(), Folder(folder), *more)}
    return Home(
        variant,
        places[place],
        [places[name] for name in VARIANTS[variant].places.split() if name in places],
        folder,
    )
