"""bench_variants.py N ROUNDS - a filter that grew from 10^3 keys to N beside one of fixed size made
for N, from Python.

Prints raw times for ../report.py.  CPU time, as in bench.py; keys were hashed by nothing before.
"""

import sys
from time import thread_time_ns

from bloomfilter import BloomFilter


def contains(f, keys):
    for key in keys:
        key in f


def main(n, rounds):
    here, other = (
        [
            f"https://www.example.com/{word}/item/{i * 0x9E3779B97F4A7C15 % 10**18:018d}"
            for i in range(1, n + 1)
        ]
        for word in ("here", "gone")
    )
    subjects = {
        "right-sized": BloomFilter(n=n, p=0.01),
        "grown from 1000": BloomFilter(n=1000, p=0.01, grow=2),
    }
    for f in subjects.values():
        f.update(here)
    ops = {
        "in absent": lambda f: contains(f, other), "in present": lambda f: contains(f, here),
        "contains_many absent": lambda f: f.contains_many(other), "update again": lambda f: f.update(here),
    }  # fmt: skip
    for round_ in range(rounds):
        for op, run in ops.items():
            for name, f in list(subjects.items())[:: -1 if round_ % 2 else 1]:
                start = thread_time_ns()
                run(f)
                print(
                    "ns",
                    "variants-python",
                    name,
                    op,
                    round_,
                    (thread_time_ns() - start) / n,
                    sep="\t",
                    flush=True,
                )


main(*map(int, sys.argv[1:]))
