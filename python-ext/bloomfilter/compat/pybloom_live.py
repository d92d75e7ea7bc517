"""BloomFilter and ScalableBloomFilter with the names and arguments of pybloom-live.

add() returns True if the key was probably THERE ALREADY, in contrast to bloomfilter.BloomFilter.
addKey(), add_many() and update() are not in pybloom-live and keep their own meaning.

What differs from pybloom-live: keys are str, bytes or int, so write str(key) for others; b"a" and
"a" are one key.  count and len() are estimates.  IndexError comes with the first new key beyond
capacity.  A part of a growing filter may be larger than mode times the one before.  fromfile()
reads only what tofile() of this class wrote: add the keys of an older file again.  There is no
bitarray.  Other arguments, such as storage=, are those of bloomfilter.BloomFilter."""

from typing import Any

from .. import BloomFilter as _BloomFilter
from .. import FullError


class _Both(_BloomFilter):
    error_rate: float = _BloomFilter.p  # type: ignore[assignment]
    count: int = property(len)  # type: ignore[assignment]

    def add(self, key: str | bytes | int, skip_check: bool = False) -> bool:  # type: ignore[override]
        """True: the key was probably there already.  False: it is surely new, or skip_check is set."""
        try:
            return not super().add(key) and not skip_check
        except FullError as error:
            raise IndexError("BloomFilter is at capacity") from error

    def tofile(self, f: Any) -> None:
        self.save(f)

    @classmethod
    def fromfile(cls, f: Any, n: int = -1) -> "_Both":
        """Read one filter; n is not needed, because the filter knows its length."""
        return cls.load(f, overfull="raise")


class BloomFilter(_Both):
    capacity: int = _BloomFilter.n  # type: ignore[assignment]
    num_bits: int = _BloomFilter.m  # type: ignore[assignment]
    num_slices: int = _BloomFilter.k  # type: ignore[assignment]

    def __init__(self, capacity: float, error_rate: float = 0.001, **more: Any) -> None:
        super().__init__(n=capacity, p=error_rate, **{"overfull": "raise", **more})


class ScalableBloomFilter(_Both):
    SMALL_SET_GROWTH = 2
    LARGE_SET_GROWTH = 4
    initial_capacity: int = _BloomFilter.n  # type: ignore[assignment]
    scale: float = _BloomFilter.grow  # type: ignore[assignment]
    capacity: int = property(lambda self: sum(p["n"] for p in self.part_info()))  # type: ignore[assignment]

    def __init__(
        self, initial_capacity: float = 100, error_rate: float = 0.001, mode: float = 4, **more: Any
    ) -> None:
        super().__init__(n=initial_capacity, p=error_rate, grow=mode, **more)
