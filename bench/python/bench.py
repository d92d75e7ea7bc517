"""bench.py N ROUNDS [import] - the package beside its peers from PyPI and the builtin set,
interleaved in one process.

Prints raw times for ../report.py.  Keys are ASCII str objects that nothing has hashed yet: CPython
keeps a str's hash, so every single measurement gets a list of its own, made before the clock
starts.  The clock is CPU time: what others take from a shared machine meanwhile does not count.  A
peer that is not installed is left out."""

import gc
import importlib
import importlib.metadata
import itertools
import os
import subprocess
import sys
import tempfile
from time import thread_time_ns
from typing import NamedTuple

P = 0.01
MODULUS, FACTOR = 10**18, 0x9E3779B97F4A7C15  # coprime: 18 digits that never repeat
ASKED = 1_000_000  # keys never added, for the measured rate
SHM = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
MODULES = {
    "bloomfilter": "bloomfilter",
    "abloom": "abloom",
    "rbloom": "rbloom",
    "pybloomfiltermmap3": "pybloomfilter",
    "json, to compare": "json",
}
IMPORTS = 25


def emit(*cells):
    print(*cells, sep="\t", flush=True)


def note(text):
    print(text, file=sys.stderr, flush=True)


def make_keys(word, n):
    return [
        f"https://www.example.com/{word}/item/{i * FACTOR % MODULUS:018d}" for i in range(1, n + 1)
    ]


# ---- operations ----
def add(f, keys):
    call = f.add
    for key in keys:
        call(key)


def contains(f, keys):
    for key in keys:
        key in f


class Op(NamedTuple):
    run: object
    word: str  # of the keys; "here" are in the filled filter
    empty: bool  # into an empty filter
    needs: str  # the method that tells who has it
    array: bool = False  # keys as numpy's 'S'


OPS = {
    "add": Op(add, "here", True, "add"),
    "in present": Op(contains, "here", False, "__contains__"),
    "in absent": Op(contains, "gone", False, "__contains__"),
    "update": Op(lambda f, keys: f.update(keys), "here", True, "update"),
    "add_many": Op(lambda f, keys: f.add_many(keys), "here", True, "add_many"),
    "contains_many": Op(lambda f, keys: f.contains_many(keys), "gone", False, "contains_many"),
    "update S": Op(lambda f, keys: f.update(keys), "here", True, "contains_many", True),
    "contains_many S": Op(
        lambda f, keys: f.contains_many(keys), "gone", False, "contains_many", True
    ),
}


# ---- subjects: n -> how to make an empty one, and its size in bits ----
class Empty(tuple):
    """What a loop with an empty call costs: a builtin of one argument, and the slot of `in`."""

    add = staticmethod(id)


def ours(n):
    from bloomfilter import BloomFilter

    return lambda: BloomFilter(n=n, p=P), lambda f: f.m


def ours_in_file(n):
    from bloomfilter import BloomFilter

    folder = tempfile.TemporaryDirectory(dir=SHM)  # goes with make()
    number = itertools.count()

    def make():
        return BloomFilter(n=n, p=P, storage=f"{folder.name}/{next(number)}.bloom")

    return make, lambda f: f.m


def abloom(n, serializable):
    from abloom import BloomFilter

    return lambda: BloomFilter(n, P, serializable=serializable), lambda f: f.bit_count


def rbloom(n):
    from rbloom import Bloom

    return lambda: Bloom(n, P), lambda f: f.size_in_bits


def rbloom_xxh3(n):
    from rbloom import Bloom
    from xxhash import xxh3_128_intdigest

    return lambda: Bloom(
        n, P, lambda key: xxh3_128_intdigest(key.encode()) - 2**127
    ), lambda f: f.size_in_bits


def pybloomfilter(n):
    from pybloomfilter import BloomFilter

    return lambda: BloomFilter(n, P), lambda f: f.num_bits


SUBJECTS = {
    "empty call": lambda n: (Empty, None),
    "bloomfilter": ours,
    "bloomfilter, mapped file": ours_in_file,
    "abloom serializable": lambda n: abloom(n, True),
    "abloom hash()": lambda n: abloom(n, False),
    "rbloom": rbloom,
    "rbloom + xxh3": rbloom_xxh3,
    "pybloomfiltermmap3": pybloomfilter,
    "set": lambda n: (set, lambda f: 8 * sys.getsizeof(f)),
}


class Subject:
    def __init__(self, name, n):
        self.name, self.n = name, n
        self.make, self.bits = SUBJECTS[name](n)
        self.filled = self.make()
        if hasattr(self.filled, "update"):
            self.filled.update(make_keys("here", n))

    def tell_size(self):
        """What the times are paid with."""
        if self.bits:
            told = sum(key in self.filled for key in make_keys("nope", ASKED))
            emit(
                "fact",
                f"{self.name}, n={self.n:,}",
                f"{self.bits(self.filled) / self.n:.2f} bits a key, measured rate {told / ASKED:.3%}",
            )

    def measure(self, op, numpy):
        keys = make_keys(op.word, self.n)
        if op.array:
            keys = numpy.array(keys, dtype="S")
        f = self.make() if op.empty else self.filled
        start = thread_time_ns()
        op.run(f, keys)
        return (thread_time_ns() - start) / self.n


def load_subjects(n):
    for name in SUBJECTS:
        try:
            yield Subject(name, n)
        except ImportError as e:
            note(f"bench.py: without {name}: {e}")


def load_numpy():
    try:
        return importlib.import_module("numpy")
    except ImportError as e:
        note(f"bench.py: without numpy's arrays: {e}")
        return None


def measure_all(n, rounds):
    table = "python" if n <= 1_000_000 else "python-big"
    size = len(make_keys("here", 1)[0])
    emit(
        "table",
        table,
        "ns",
        f"Python: n = {n:,}, p = 1 %, fresh str keys of {size} B, {rounds} rounds: ns a key, the loop included",
    )
    subjects, numpy = list(load_subjects(n)), load_numpy()
    for subject in subjects:
        subject.tell_size()
    for round_ in range(rounds):
        note(f"{table}: round {round_ + 1} of {rounds}")
        for name, op in OPS.items():
            able = [s for s in subjects if hasattr(s.filled, op.needs) and (numpy or not op.array)]
            for s in able if round_ % 2 == 0 else reversed(able):
                emit("ns", table, s.name, name, round_, s.measure(op, numpy))


# ---- versions, imports ----
def versions():
    emit("fact", "Python", sys.version.split()[0])
    for dist in ("abloom", "rbloom", "pybloomfiltermmap3", "xxhash", "numpy"):
        try:
            emit("fact", dist, importlib.metadata.version(dist))
        except importlib.metadata.PackageNotFoundError:
            emit("fact", dist, "not installed")


def import_ns(module):
    """What `import module` adds to a fresh interpreter: -X importtime's cumulative microseconds."""
    command = [sys.executable, "-I", "-X", "importtime", "-c", f"import {module}"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    for line in run.stderr.splitlines():
        if line.startswith("import time:") and line.split("|")[-1].strip() == module:
            return 1000 * int(line.split("|")[1])
    return None


def imports():
    emit(
        "table",
        "import",
        "ms",
        "Python: import in a fresh interpreter, ms (-X importtime, cumulative)",
    )
    for round_ in range(IMPORTS):
        for name, module in MODULES.items():
            ns = import_ns(module)
            if ns:
                emit("ns", "import", name, "import", round_, ns)


if __name__ == "__main__":
    gc.disable()
    versions()
    if "import" in sys.argv:
        imports()
    measure_all(int(sys.argv[1]), int(sys.argv[2]))
