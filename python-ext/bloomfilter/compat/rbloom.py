"""Bloom with the names and arguments of rbloom; docs/howto-move.md lists what differs."""

from io import BytesIO
from typing import Any

from .. import BloomFilter


class Bloom(BloomFilter):
    size_in_bits: int = BloomFilter.m  # type: ignore[assignment]
    approx_items: float = property(lambda self: float(len(self)))  # type: ignore[assignment]
    hash_func: Any = staticmethod(hash)
    save_bytes = BloomFilter.to_bytes
    load_bytes = classmethod(lambda cls, data, hash_func=hash: cls.load(BytesIO(data), hash_func))

    def __init__(
        self, expected_items: float, false_positive_rate: float, hash_func: Any = hash, **more: Any
    ) -> None:
        super().__init__(n=expected_items, p=false_positive_rate, **more)
        self.hash_func = hash_func

    def _hashed(self, keys: Any, many: bool) -> Any:
        plain = self.hash_func is hash or isinstance(keys, BloomFilter)
        return keys if plain else map(self.hash_func, keys) if many else self.hash_func(keys)

    def add(self, obj: Any, /) -> None:  # type: ignore[override]
        self.addKey(obj)

    def update(self, *others: Any) -> None:  # type: ignore[override]
        for other in others:
            super().update(self._hashed(other, True))

    def union(self, *others: Any) -> "Bloom":
        (result := self.copy()).update(*others)
        return result

    def intersection(self, *others: Any) -> "Bloom":
        (result := self.copy()).intersection_update(*others)
        return result

    def intersection_update(self, *others: Any) -> None:
        for other in others:
            (only := self.copy()).clear()
            only.update(other)
            self &= only

    @classmethod
    def load(cls, filepath: Any, hash_func: Any = hash, **more: Any) -> "Bloom":  # type: ignore[override]
        result = super().load(filepath, **more)
        result.hash_func = hash_func
        return result


def _with(plain: Any, many: bool) -> Any:
    return lambda self, keys, /, **more: plain(self, self._hashed(keys, many), **more)


_MANY = "add_many contains_many add_mask contains_mask rebuild".split()
for _name in ["addKey", "existKey", "hashcode", "__contains__", *_MANY]:  # else they set other bits
    setattr(Bloom, _name, _with(getattr(BloomFilter, _name), _name in _MANY))
