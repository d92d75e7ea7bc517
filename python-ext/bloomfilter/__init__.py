"""Bloom filters in C: the same bits in Python, PHP and C, in memory, in a file, in Redis.

>>> from bloomfilter import BloomFilter
>>> seen = BloomFilter(n=1_000_000, p=0.01)
>>> seen.add("https://example.org/")    # True: surely new
True
>>> "https://example.org/" in seen
True
"""

from ._bloomfilter import (
    BloomFilter,
    CountingBloomFilter,
    Error,
    FullError,
    SaturationWarning,
    __version__,
)

__all__ = [
    "BloomFilter",
    "CountingBloomFilter",
    "Error",
    "FullError",
    "SaturationWarning",
    "__version__",
]
