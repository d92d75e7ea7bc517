"""A large load into a mapped file: keys go to a copy in memory, whose plain stores are several
times faster than the atomic ones of a shared map, and the copy's bits are united with the file
every second or so and at the end.

The file therefore lags a second behind, or 20 times as long as a union takes; and keys that others
add meanwhile may be told new here, too: one of the adders is told so in any case.  Used only where
nobody is told about single keys, and where the copy is small beside what there is to read."""

from __future__ import annotations

from time import monotonic
from typing import Any

from .. import BloomFilter, CountingBloomFilter

MOST = 256 << 20  # bytes of bits that are copied
WORTH = 4  # bytes to read for each byte of bits
EVERY = 1.0  # seconds between two unions, at least
SHARE = 20  # unions take at most one part in so many of the time


def worth(bf: BloomFilter, home_is_file: bool, total: int | None) -> bool:
    bits = (bf.m + 7) // 8
    # a copy would grow, or forget, by itself, and unite with it no more; or be counted twice
    if bf.grow or bf.window or isinstance(bf, CountingBloomFilter):
        return False
    return home_is_file and total is not None and bits <= MOST and total >= WORTH * bits


class Staged:
    """The part of a filter's interface that loading needs."""

    def __init__(self, bf: BloomFilter) -> None:
        self.bf, self.copy = bf, bf.copy()
        self.commit()  # a file that cannot be written says so now

    def update_lines(self, data: memoryview, sep: bytes, **how: Any) -> tuple[int, int, int, bytes]:
        answer = self.copy.update_lines(data, sep, **how)
        if monotonic() > self.due:
            self.commit()
        return answer

    def commit(self) -> None:
        start = monotonic()
        self.bf |= self.copy
        end = monotonic()
        self.due = end + max(EVERY, SHARE * (end - start))
