"""Bloom with the names and arguments of rbloom.

What differs from rbloom: without hash_func, keys are str, bytes or int, so write str(key) for
others, and the filter can be saved too.  With hash_func, the integer that it returns is the key.
load() and load_bytes() read only what this class wrote: add the keys of an older file again.
Filters of different sizes are unequal and raise no ValueError.  Filters with different hash_func
are not refused by |, & and comparisons.  issubset() and issuperset() take filters only.  A filter
with more keys than expected warns; overfull="ignore" turns that off.  Other arguments, such as
storage=, are those of bloomfilter.BloomFilter."""

from collections.abc import Callable, Iterable
from typing import Any

from .. import BloomFilter

_Hash = Callable[[Any], int]


class Bloom(BloomFilter):
    size_in_bits: int = BloomFilter.m  # type: ignore[assignment]
    approx_items: float = property(lambda self: float(len(self)))  # type: ignore[assignment]
    hash_func: _Hash = staticmethod(hash)
    save_bytes = BloomFilter.to_bytes

    def __init__(
        self,
        expected_items: float,
        false_positive_rate: float,
        hash_func: _Hash = hash,
        **more: Any,
    ) -> None:
        super().__init__(n=expected_items, p=false_positive_rate, **more)
        self.hash_func = hash_func

    def _key(self, obj: Any) -> Any:
        return obj if self.hash_func is hash else self.hash_func(obj)

    def add(self, obj: Any, /) -> None:  # type: ignore[override]
        super().add(self._key(obj))

    def __contains__(self, obj: Any) -> bool:
        return super().__contains__(self._key(obj))

    def update(self, *others: Iterable[Any] | BloomFilter) -> None:  # type: ignore[override]
        for other in others:
            super().update(other if isinstance(other, BloomFilter) else map(self._key, other))

    def intersection_update(self, *others: Iterable[Any] | BloomFilter) -> None:
        for other in others:
            if not isinstance(other, BloomFilter):
                self_like = self.copy()
                self_like.clear()
                self_like.update(other)
                other = self_like
            self &= other

    def union(self, *others: Iterable[Any] | BloomFilter) -> "Bloom":
        result = self.copy()
        result.update(*others)
        return result

    def intersection(self, *others: Iterable[Any] | BloomFilter) -> "Bloom":
        result = self.copy()
        result.intersection_update(*others)
        return result

    @classmethod
    def load(cls, filepath: Any, hash_func: _Hash = hash, **more: Any) -> "Bloom":  # type: ignore[override]
        result = super().load(filepath, **more)
        result.hash_func = hash_func
        return result

    @classmethod
    def load_bytes(cls, data: bytes, hash_func: _Hash = hash) -> "Bloom":
        result = cls.from_bytes(data)
        result.hash_func = hash_func
        return result
