"""Arrow columns and numpy arrays are read without the GIL: no key is lost when other threads and
processes come and go."""

import threading
from pathlib import Path

import numpy as np
import pytest
import arrow_producer
from threads import in_threads

from bloomfilter import BloomFilter


OTHERS = {
    "column": lambda bf, keys: bf.update(keys),
    "list": lambda bf, keys: bf.update(keys.tolist()),
    "iterator": lambda bf, keys: bf.update(iter(keys.tolist())),
    "single keys": lambda bf, keys: [bf.add(key) for key in keys.tolist()],
}


@pytest.mark.parametrize("other", OTHERS)
def test_fresh_keys_of_two_threads_at_once(other):
    """Plain kernels in both threads at once lose tens of keys here: each round makes some hundred
    thousand chances."""
    n = 300_000
    for round_ in range(6):
        bf = BloomFilter(n=2 * n, p=0.1)
        mine, theirs = (np.arange(n) + (2 * round_ + i) * n for i in range(2))
        start = threading.Barrier(2)

        def column(bf=bf, keys=mine, start=start):
            start.wait()
            for part in np.array_split(keys, 20):
                bf.update(part)

        def others(bf=bf, keys=theirs, start=start):
            start.wait()
            OTHERS[other](bf, keys)

        in_threads(column, others)
        assert bf.contains_many(mine) == b"\1" * n
        assert bf.contains_many(theirs) == b"\1" * n


CHANGING = """
import sys, threading, numpy as np
sys.path.insert(0, HERE)
from arrow_producer import Column
from bloomfilter import BloomFilter
n, going, kinds = 300_000, True, {"z": "i4", "Z": "i8"}
bf = BloomFilter(n=n, p=0.01)
columns = [Column(kind.encode(), n, [None, np.arange(0, 4 * n + 1, 4, dtype=kinds[kind]).tobytes(), b"x" * (4 * n)]) for kind in kinds]
columns.append(Column(b"I", n, [None, np.zeros(n, "u4").tobytes()], dictionary=columns[0]))
offsets = [np.frombuffer(column.bytes[1], dtype, n + 1) for column, dtype in zip(columns, ("i4", "i8"))]
def change():
    while going:
        for values, wrong in zip(offsets, (-2**31 + 5, -2**62)): values[1000::30_000] = wrong
        for values in offsets: values[1000::30_000] = np.arange(4000, 4 * n, 120_000)
thread = threading.Thread(target=change)
thread.start()
for _ in range(60):
    for column in columns:
        try:
            bf.update(column)
        except ValueError as error:
            assert "offsets" in str(error) or "outside its buffers" in str(error), error
going = False
thread.join()
assert bf.update(columns[0]) >= 0
print("ok")
"""


def test_offsets_that_change_while_they_are_read(run_python):
    """They were checked before: a producer's other thread may still write to what it gave away."""
    assert (
        run_python(CHANGING.replace("HERE", repr(str(Path(arrow_producer.__file__).parent))))
        == "ok"
    )
