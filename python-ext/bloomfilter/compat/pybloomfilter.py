"""BloomFilter as in pybloomfiltermmap3; docs/howto-move.md lists what differs."""

import os
from functools import partialmethod
from operator import iand, ior
from typing import Any

from .. import BloomFilter as _BloomFilter


class BloomFilter(_BloomFilter):
    capacity: int = _BloomFilter.n  # type: ignore[assignment]
    error_rate: float = _BloomFilter.p  # type: ignore[assignment]
    num_hashes: int = _BloomFilter.k  # type: ignore[assignment]
    num_bits: int = _BloomFilter.m  # type: ignore[assignment]
    bit_count: int = property(lambda self: self.info()["ones"])  # type: ignore[assignment]
    read_only: bool = property(lambda self: self.info()["read_only"])  # type: ignore[assignment]
    approx_len: int = property(len)  # type: ignore[assignment]
    clear_all = _BloomFilter.clear
    name = property(lambda self: os.fsencode(self.filename))  # as there, bytes
    union = partialmethod(ior)
    intersection = partialmethod(iand)

    def __init__(
        self,
        capacity: float,
        error_rate: float,
        filename: str | None = None,
        perm: int | None = None,
        **more: Any,
    ) -> None:
        super().__init__(n=capacity, p=error_rate, **{"storage": filename, **more})
        if filename is not None and perm is not None and self.created:
            os.chmod(filename, perm)

    @property
    def filename(self) -> str:
        if self.storage is None:
            raise NotImplementedError("a filter in memory has no filename")
        return os.fsdecode(self.storage)

    def add(self, item: str | bytes | int, /) -> bool:  # type: ignore[override]
        """True: the item was probably there already.  False: it is surely new."""
        return not super().add(item)

    def copy(self, filename: str) -> "BloomFilter":  # type: ignore[override]
        self.save(filename)
        return self.open(filename)

    def copy_template(self, filename: str, perm: int | None = None) -> "BloomFilter":
        return type(self)(self.capacity, self.error_rate, filename, perm)

    @classmethod
    def open(cls, filename: str, mode: str = "rw") -> "BloomFilter":  # type: ignore[override]
        return super().open(filename, read_only="w" not in mode)

    @classmethod
    def from_base64(cls, filename: str, string: str | bytes) -> "BloomFilter":  # type: ignore[override]
        super().from_base64(os.fsdecode(string)).save(filename)
        return cls.open(filename)
