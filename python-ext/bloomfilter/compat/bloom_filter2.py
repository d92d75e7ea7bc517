"""BloomFilter with the names and arguments of bloom-filter2.

What differs from bloom-filter2: keys are str, bytes or int; "a", b"a" and [97] are not one key, and
a list of integers raises TypeError: write bytes(key).  probe_bitnoer must be None.  start_fresh is
for files.  Every file is mapped; the number in filename=("seen.bloom", 1000) has no effect.  A file
of this library that exists is opened, and must have equal arguments; a file of bloom-filter2 cannot
be read.  addKey() and add_many() are new.  Other arguments are those of bloomfilter.BloomFilter."""

import os
from typing import Any

from .. import BloomFilter as _BloomFilter
from .._bloomfilter import _path_of


class BloomFilter(_BloomFilter):
    ideal_num_elements_n: int = _BloomFilter.n  # type: ignore[assignment]
    error_rate_p: float = _BloomFilter.p  # type: ignore[assignment]
    num_bits_m: int = _BloomFilter.m  # type: ignore[assignment]
    num_probes_k: int = _BloomFilter.k  # type: ignore[assignment]

    def __init__(
        self,
        max_elements: float = 10000,
        error_rate: float = 0.1,
        probe_bitnoer: None = None,
        filename: str | tuple[str, int] | None = None,
        start_fresh: bool = False,
        **more: Any,
    ) -> None:
        if probe_bitnoer is not None:
            raise TypeError("probe_bitnoer must be None: pass hash functions as hashes=")
        storage = filename[0] if isinstance(filename, tuple) else filename
        path = _path_of(storage) or "" if start_fresh and storage is not None else None
        if path == "":
            raise ValueError("start_fresh is for files: delete the filter in Redis")
        old = f"{path}.{os.urandom(8).hex()}" if path and os.path.isfile(path) else None
        if path and old:  # deleted once the new file exists
            os.rename(path, old)
        try:
            super().__init__(n=max_elements, p=error_rate, **{"storage": storage, **more})
        except BaseException:
            if path and old:
                os.replace(old, path)
            raise
        if old:
            os.unlink(old)

    def add(self, key: str | bytes | int, /) -> None:  # type: ignore[override]
        super().add(key)

    def __iadd__(self, key: str | bytes | int) -> "BloomFilter":
        self.add(key)
        return self

    def union(self, bloom_filter: _BloomFilter) -> None:  # type: ignore[override]
        self |= bloom_filter

    def intersection(self, bloom_filter: _BloomFilter) -> None:  # type: ignore[override]
        self &= bloom_filter
