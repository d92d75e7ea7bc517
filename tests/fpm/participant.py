"""participant.py - Python beside the workers.  The same commands as web.php on the command line."""

import sys
import time

from bloomfilter import BloomFilter


def add(path: str, name: str, start: int, stop: int) -> None:
    seen = BloomFilter(n=1_000_000, p=0.0001, storage=path)
    for i in range(start, stop):
        seen.add(f"{name}:{i}")
        if i % 1000 == 0:
            time.sleep(0.005)
    print(name, start, stop)


def missing(path: str) -> int:
    seen = BloomFilter.open(path)
    ranges = (line.split() for line in sys.stdin)
    return sum(
        f"{name}:{i}" not in seen
        for name, start, stop in ranges
        for i in range(int(start), int(stop))
    )


if sys.argv[1] == "add":
    add(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
else:
    print(missing(sys.argv[2]))
