"""What a secret costs: add and `in` of 40-byte keys, with and without, in turns.  python
bench/python/keyed.py [ROUNDS]"""

import sys
import time
from itertools import repeat

from bloomfilter import BloomFilter

N, SECRET = 200_000, bytes(range(16))


def timed(call, keys):
    start = time.perf_counter_ns()
    for _ in map(call, keys):
        pass
    return (time.perf_counter_ns() - start) / len(keys)


def main(rounds):
    keys = [f"https://example.org/article/{i:012d}" for i in range(N)]
    assert len(keys[0]) == 40
    times = {}
    for _ in repeat(None, rounds):
        for name, secret in (("plain", None), ("keyed", SECRET)):
            bf = BloomFilter(n=N, p=0.01, secret=secret)
            times.setdefault((name, "add"), []).append(timed(bf.add, keys))
            times.setdefault((name, "in"), []).append(timed(bf.__contains__, keys))
    for what in ("add", "in"):
        plain, keyed = (min(times[name, what]) for name in ("plain", "keyed"))
        print(
            f"{what:4} plain {plain:6.1f} ns  keyed {keyed:6.1f} ns  ratio {keyed / plain:.2f}  (target 1.60{'' if keyed <= 1.6 * plain else ': MISS'})"
        )


main(int(sys.argv[1]) if len(sys.argv) > 1 else 15)
