"""Filters for asyncio: the same filters, bits and commands, awaited.  `from bloomfilter.asyncio import BloomFilter`."""

from collections.abc import AsyncIterable, Callable, Iterable
from types import TracebackType
from typing import Any, SupportsIndex, TypeAlias

from typing_extensions import Buffer, Self

from ._bloomfilter import BloomFilter as _BloomFilter
from ._bloomfilter import Error as Error
from ._bloomfilter import FullError as FullError
from ._bloomfilter import _Info, _Key, _Keys, _Nulls, _Overfull, _Path, _Real, _Storage, _Writable

__all__ = ["BloomFilter", "CountingBloomFilter", "Error", "FullError"]

_Source: TypeAlias = _Keys | AsyncIterable[_Key]

class BloomFilter:
    """Made by `await BloomFilter.create(...)` or `await BloomFilter.open(storage, ...)`."""

    @classmethod
    async def create(
        cls,
        m: SupportsIndex | None = None,
        n: SupportsIndex | None = None,
        k: SupportsIndex | None = None,
        p: _Real | None = None,
        *,
        scheme: str | None = None,
        storage: _Storage | None = None,
        key: str | None = None,
        secret: Buffer | None = None,
        grow: _Real | None = None,
        window: _Real | None = None,
        shards: SupportsIndex | None = None,
        parts: SupportsIndex | None = None,
        timeout: _Real | None = None,
        retry_after: _Real | None = None,
        cache: bool = False,
        cache_max_age: _Real | None = None,
        wait_replicas: SupportsIndex | None = None,
        adopt: bool = False,
        exclusive: bool = False,
        overfull: _Overfull | None = None,
        clock: Callable[[], _Real] | None = None,
        hashes: Iterable[Callable[[bytes], SupportsIndex]] | None = None,
        warn: bool = True,
    ) -> Self:
        """What the constructor of bloomfilter.BloomFilter makes of these arguments.

        storage: nothing (memory), a path, a URL, a client of redis-py, or a client of redis.asyncio (Redis, RedisCluster;
        it needs the package greenlet).
        """
    @classmethod
    async def open(
        cls,
        storage: _Storage,
        *,
        m: SupportsIndex | None = None,
        n: SupportsIndex | None = None,
        k: SupportsIndex | None = None,
        p: _Real | None = None,
        scheme: str | None = None,
        key: str | None = None,
        secret: Buffer | None = None,
        grow: _Real | None = None,
        window: _Real | None = None,
        shards: SupportsIndex | None = None,
        parts: SupportsIndex | None = None,
        timeout: _Real | None = None,
        retry_after: _Real | None = None,
        cache: bool = False,
        cache_max_age: _Real | None = None,
        wait_replicas: SupportsIndex | None = None,
        adopt: bool = False,
        exclusive: bool = False,
        overfull: _Overfull | None = None,
        clock: Callable[[], _Real] | None = None,
        hashes: Iterable[Callable[[bytes], SupportsIndex]] | None = None,
        read_only: bool = False,
        warn: bool = True,
    ) -> Self:
        """Open the filter that is in a storage and stay bound to it.  Parameters given must be its own."""
    @property
    def m(self) -> int: ...
    @property
    def n(self) -> int: ...
    @property
    def k(self) -> int: ...
    @property
    def p(self) -> float: ...
    @property
    def scheme(self) -> str: ...
    @property
    def storage(self) -> Any: ...
    @property
    def shards(self) -> int: ...
    @property
    def grow(self) -> float | None: ...
    @property
    def window(self) -> float | None: ...
    @property
    def parts(self) -> int | None: ...
    @property
    def created(self) -> bool: ...
    async def add(self, key: _Key, /) -> bool:
        """True: the key is SURELY NEW.  False: it was probably there already."""
    async def exists(self, key: _Key, /) -> bool:
        """False: surely never added.  True: probably added."""
    async def contains(self, key: _Key, /) -> bool:
        """The same as exists()."""
    async def update(self, keys: _Source | _BloomFilter, /, *, nulls: _Nulls = "raise") -> int:
        """Add all keys of an iterable or an async iterable; how many were SURELY NEW.  As BloomFilter.update."""
    async def add_many(self, keys: _Source, /, *, nulls: _Nulls = "raise") -> bytes:
        """Add all; one byte per key: 1 = SURELY NEW, 0 = probably there already."""
    async def contains_many(self, keys: _Source, /, *, nulls: _Nulls = "raise") -> bytes:
        """One byte per key: 1 = probably added, 0 = surely never added."""
    async def rebuild(self, keys: _Source, /) -> int:
        """Replace the contents by these keys; how many were SURELY NEW.  Cancelled while the keys are read, the filter is as
        it was."""
    async def clear(self) -> None:
        """Forget all keys."""
    async def sync(self) -> None:
        """Return when the keys are on disk."""
    async def expire(self, seconds: _Real | None, /) -> None:
        """In Redis: delete the filter in so many seconds; None: never."""
    async def delete(self) -> None:
        """In Redis: delete the filter there."""
    async def info(self) -> _Info:
        """What the filter is and what is in it."""
    async def save(self, path: _Path | _Writable, /) -> None:
        """Write the filter to a file, by rename, or to an object with write()."""
    async def to_bytes(self, *, format: str | None = None) -> bytes:
        """The filter as bytes, the same in every language."""
    async def to_base64(self) -> str:
        """What to_bytes() gives, as base64 in one line."""
    async def close(self) -> None:
        """Close the filter after the calls that came before.  A client stays open: it is yours."""
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None: ...

class CountingBloomFilter(BloomFilter):
    """A filter that keys can be removed from."""

    async def remove(self, key: _Key, /) -> bool:
        """Take one add of the key back.  False: it was surely not there."""
    async def count_of(self, key: _Key, /) -> int:
        """How often the key was added, about: 0 to 15."""
    async def remove_many(self, keys: _Source, /, *, nulls: _Nulls = "raise") -> bytes:
        """Remove each key once; one byte per key: 1 = it was there."""
    async def count_many(self, keys: _Source, /, *, nulls: _Nulls = "raise") -> bytes:
        """One byte per key: how often it was added, about."""
