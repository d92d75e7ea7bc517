"""bench_arrow.py N ROUNDS - batches of the same keys from a list, numpy's arrays and Arrow columns,
interleaved in one process.

Prints raw times for ../report.py.  The clock is CPU time of the thread, as in bench.py; p = 1 %,
filters sized for N."""

import gc
import importlib.metadata
import sys
from time import thread_time_ns

import numpy as np
import pyarrow as pa

from bloomfilter import BloomFilter

P = 0.01
MODULUS, FACTOR = 10**18, 0x9E3779B97F4A7C15  # as in bench.py: 18 digits that never repeat


def emit(*cells):
    print(*cells, sep="\t", flush=True)


def make_words(word, n):
    return [
        f"https://www.example.com/{word}/item/{i * FACTOR % MODULUS:018d}" for i in range(1, n + 1)
    ]


def numbers(word, n):
    """19 digits that never repeat; below N: as ids are."""
    return (
        np.arange(1, n + 1, dtype="u8") * np.uint64(FACTOR) >> np.uint64(1 if word == "here" else 2)
    ).astype("i8")


# Each makes the keys from (Arrow's text, word, n): one kind at a time is in memory, and lists are
# of objects nothing has touched.
KINDS = {
    "Arrow string": lambda text, word, n: text,
    "Arrow large_string": lambda text, word, n: text.cast(pa.large_string()),
    "Arrow string_view": lambda text, word, n: text.cast(pa.string_view()),
    "Arrow string, chunks of 65,536": lambda text, word, n: pa.chunked_array(
        [text[i : i + 65536] for i in range(0, n, 65536)]
    ),
    "Arrow int64 of 19 digits": lambda text, word, n: pa.array(numbers(word, n)),
    "Arrow int64 below 2 N": lambda text, word, n: pa.array(np.arange(n) + n * (word == "gone")),
    "numpy S": lambda text, word, n: np.array(text.to_pylist(), dtype="S"),
    "numpy U": lambda text, word, n: np.array(text.to_pylist()),
    "numpy int64 of 19 digits": lambda text, word, n: numbers(word, n),
    "list of str": lambda text, word, n: text.to_pylist(),
}
UNICODE_MOST = 1_000_000  # numpy's U takes four bytes a character


def measure(call, keys, n):
    start = thread_time_ns()
    call(keys)
    return (thread_time_ns() - start) / n


def main():
    n, rounds = int(sys.argv[1]), int(sys.argv[2])
    emit(
        "table",
        "arrow",
        "ns",
        f"Python batches: n = {n:,}, p = 1 %, text keys of 52 B, {rounds} rounds: ns a key",
    )
    for dist in ("numpy", "pyarrow"):
        emit("fact", dist, importlib.metadata.version(dist))
    texts = {word: pa.array(make_words(word, n)) for word in ("here", "gone")}
    kinds = [kind for kind in KINDS if kind != "numpy U" or n <= UNICODE_MOST]
    for round_ in range(rounds):
        print(f"arrow: round {round_ + 1} of {rounds}", file=sys.stderr, flush=True)
        for kind in kinds:
            seen, here = BloomFilter(n=n, p=P), KINDS[kind](texts["here"], "here", n)
            emit("ns", "arrow", kind, "update", round_, measure(seen.update, here, n))
            emit(
                "ns",
                "arrow",
                kind,
                "contains present",
                round_,
                measure(seen.contains_many, here, n),
            )
            emit("ns", "arrow", kind, "mask present", round_, measure(seen.contains_mask, here, n))
            here = KINDS[kind](texts["gone"], "gone", n)
            emit(
                "ns", "arrow", kind, "contains absent", round_, measure(seen.contains_many, here, n)
            )


if __name__ == "__main__":
    gc.disable()
    main()
