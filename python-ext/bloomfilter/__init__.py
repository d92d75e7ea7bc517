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


def _imported_by_the_extension() -> None:
    """Never called.  Programs that freeze an application find here what the C code imports."""
    from . import _mask, _pickle, _redis, _streams, _text  # noqa: F401


__all__ = [
    "BloomFilter",
    "CountingBloomFilter",
    "Error",
    "FullError",
    "SaturationWarning",
    "__version__",
]
