"""Bloom with the names and arguments of rbloom; docs/howto-move.md lists what differs."""

from collections.abc import Callable
from io import BytesIO
from typing import Any

from .. import BloomFilter


class Bloom(BloomFilter):
    size_in_bits: int = BloomFilter.m  # type: ignore[assignment]
    approx_items: float = property(lambda self: float(len(self)))  # type: ignore[assignment]
    hash_func: Callable[[Any], int] = staticmethod(hash)
    save_bytes = BloomFilter.to_bytes

    def __init__(
        self, expected_items: float, false_positive_rate: float, hash_func: Any = hash, **more: Any
    ) -> None:
        super().__init__(n=expected_items, p=false_positive_rate, **more)
        self.hash_func = hash_func

    def _key(self, obj: Any) -> Any:
        return obj if self.hash_func is hash else self.hash_func(obj)

    def add(self, obj: Any, /) -> None:  # type: ignore[override]
        super().add(self._key(obj))

    def __contains__(self, obj: Any) -> bool:
        return super().__contains__(self._key(obj))

    def update(self, *others: Any) -> None:  # type: ignore[override]
        for other in others:
            super().update(other if isinstance(other, BloomFilter) else map(self._key, other))

    def union(self, *others: Any) -> "Bloom":
        result = self.copy()
        result.update(*others)
        return result

    def intersection(self, *others: Any) -> "Bloom":
        result = self.copy()
        result.intersection_update(*others)
        return result

    def intersection_update(self, *others: Any) -> None:
        for other in others:
            only = self.copy()
            only.clear()
            only.update(other)
            self &= only

    # Methods that rbloom does not have use hash_func, too: else they would set other bits.
    def addKey(self, key: Any, /) -> bool:
        return super().addKey(self._key(key))

    def existKey(self, key: Any, /) -> bool:
        return super().existKey(self._key(key))

    def hashcode(self, key: Any, /) -> list[int]:
        return super().hashcode(self._key(key))

    def rebuild(self, keys: Any, /) -> int:
        return super().rebuild(keys if self.hash_func is hash else map(self._key, keys))

    @classmethod
    def load(cls, filepath: Any, hash_func: Any = hash, **more: Any) -> "Bloom":  # type: ignore[override]
        result = super().load(filepath, **more)
        result.hash_func = hash_func
        return result

    @classmethod
    def load_bytes(cls, data: bytes, hash_func: Any = hash) -> "Bloom":
        return cls.load(BytesIO(data), hash_func)


def _with_hash_func(name: str) -> Any:
    plain = getattr(BloomFilter, name)

    def method(self: Bloom, keys: Any, /, **more: Any) -> Any:
        return plain(self, keys if self.hash_func is hash else list(map(self._key, keys)), **more)

    method.__name__ = name
    return method


for _name in ("add_many", "contains_many", "add_mask", "contains_mask"):
    setattr(Bloom, _name, _with_hash_func(_name))
