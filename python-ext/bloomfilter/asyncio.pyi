"""Filters for asyncio: the same filters, with methods to await.  `from bloomfilter.asyncio import BloomFilter`."""

from collections.abc import AsyncIterable, Callable, Iterable
from types import TracebackType
from typing import Any, SupportsIndex, TypeAlias

from typing_extensions import Buffer, Self

from ._bloomfilter import BloomFilter as _BloomFilter
from ._bloomfilter import Error as Error
from ._bloomfilter import FullError as FullError
from ._bloomfilter import (
    _Hashes,
    _Info,
    _Key,
    _Keys,
    _Mask,
    _Nulls,
    _Overfull,
    _Path,
    _Real,
    _Seconds,
    _Storage,
    _Whole,
    _Writable,
)

__all__ = ["BloomFilter", "CountingBloomFilter", "Error", "FullError"]

_Source: TypeAlias = _Keys | AsyncIterable[_Key]

class BloomFilter:
    """Create it with `await BloomFilter.create(...)`, or open it with `await BloomFilter.open(storage, ...)`."""

    @classmethod
    async def create(
        cls,
        m: _Whole | None = None,
        n: _Whole | None = None,
        k: _Whole | None = None,
        p: _Real | None = None,
        *,
        scheme: str | None = None,
        storage: _Storage | None = None,
        key: str | None = None,
        secret: Buffer | None = None,
        grow: _Real | None = None,
        window: _Seconds | None = None,
        shards: _Whole | None = None,
        parts: _Whole | None = None,
        timeout: _Seconds | None = None,
        retry_after: _Seconds | None = None,
        cache: bool = False,
        cache_max_age: _Seconds | None = None,
        wait_replicas: _Whole | None = None,
        adopt: bool = False,
        exclusive: bool = False,
        overfull: _Overfull | None = None,
        clock: Callable[[], _Real] | None = None,
        hashes: Iterable[Callable[[bytes], SupportsIndex]] | None = None,
        warn: bool = True,
    ) -> Self:
        """Create a filter, or open it if it exists.  The arguments are those of the constructor of bloomfilter.BloomFilter.

        storage: nothing (memory), a path, a URL, a client of redis-py, or a client of redis.asyncio (Redis, RedisCluster).
        A client of redis.asyncio needs the package greenlet.
        """
    @classmethod
    async def open(
        cls,
        storage: _Storage,
        *,
        m: _Whole | None = None,
        n: _Whole | None = None,
        k: _Whole | None = None,
        p: _Real | None = None,
        scheme: str | None = None,
        key: str | None = None,
        secret: Buffer | None = None,
        grow: _Real | None = None,
        window: _Seconds | None = None,
        shards: _Whole | None = None,
        parts: _Whole | None = None,
        timeout: _Seconds | None = None,
        retry_after: _Seconds | None = None,
        cache: bool = False,
        cache_max_age: _Seconds | None = None,
        wait_replicas: _Whole | None = None,
        adopt: bool = False,
        exclusive: bool = False,
        overfull: _Overfull | None = None,
        clock: Callable[[], _Real] | None = None,
        hashes: Iterable[Callable[[bytes], SupportsIndex]] | None = None,
        read_only: bool = False,
        warn: bool = True,
    ) -> Self:
        """Open a stored filter.  Adds change the stored filter.  Parameters that you pass must match it."""
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
    async def update(self, keys: _Source | _BloomFilter, /, *, nulls: _Nulls = "raise", threads: int = 1) -> int:
        """Add all keys of an iterable or an async iterable; return how many were SURELY NEW."""
    async def add_many(self, keys: _Source, /, *, nulls: _Nulls = "raise", threads: int = 1) -> bytes:
        """Add all; return one byte per key: 1 = SURELY NEW, 0 = probably there already."""
    async def contains_many(self, keys: _Source, /, *, nulls: _Nulls = "raise", threads: int = 1) -> bytes:
        """Return one byte per key: 1 = probably added, 0 = surely never added."""
    async def add_mask(self, keys: _Source, /, *, nulls: _Nulls = "raise", threads: int = 1) -> _Mask:
        """Like add_many(), but return a mask of booleans, True = SURELY NEW."""
    async def contains_mask(self, keys: _Source, /, *, nulls: _Nulls = "raise", threads: int = 1) -> _Mask:
        """Like contains_many(), but return a mask of booleans."""
    async def add_hashes(self, hashes: _Hashes, /, *, nulls: _Nulls = "raise", threads: int = 1) -> int:
        """Add a column of 64-bit hashes, to a filter of scheme "hashes64"; return how many were SURELY NEW."""
    async def contains_hashes(self, hashes: _Hashes, /, *, nulls: _Nulls = "raise", threads: int = 1) -> bytes:
        """Return one byte per hash: 1 = probably added, 0 = surely never added."""
    async def add_hashes_mask(self, hashes: _Hashes, /, *, nulls: _Nulls = "raise", threads: int = 1) -> _Mask:
        """Like add_hashes(), but return a mask of booleans."""
    async def contains_hashes_mask(self, hashes: _Hashes, /, *, nulls: _Nulls = "raise", threads: int = 1) -> _Mask:
        """Like contains_hashes(), but return a mask of booleans."""
    async def rebuild(self, keys: _Source, /) -> int:
        """Replace the contents by these keys; return how many were surely different.  If the call is cancelled while it reads
        the keys, the filter is unchanged."""
    async def clear(self) -> None:
        """Remove all keys."""
    async def sync(self) -> None:
        """Return when the keys are on disk."""
    async def expire(self, seconds: _Seconds | None, /) -> None:
        """For a filter in Redis: Redis deletes it after this many seconds; None: never."""
    async def delete(self) -> None:
        """Delete a filter in Redis, for all its users."""
    async def info(self) -> _Info:
        """Return parameters and state of the filter as a dict."""
    async def save(self, path: _Path | _Writable, /) -> None:
        """Write the filter to a file, by rename, or to an object with write()."""
    async def to_bytes(self, *, format: str | None = None) -> bytes:
        """Return the filter as bytes, the same in every language."""
    async def to_json(self) -> str: ...
    async def to_base64(self) -> str:
        """Return the bytes of to_bytes() as base64, in one line."""
    async def close(self) -> None:
        """Close the filter after its current calls.  The client stays open."""
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None: ...

class CountingBloomFilter(BloomFilter):
    """A filter with 4-bit counters: keys can be removed and counted."""

    async def remove(self, key: _Key, /) -> bool:
        """Undo one add of the key.  True: it was there.  False: it was absent."""
    async def count_of(self, key: _Key, /) -> int:
        """Return an upper bound for the adds minus the removals of the key.  0: surely absent; 15: 15 or more."""
    async def remove_many(self, keys: _Source, /, *, nulls: _Nulls = "raise", threads: int = 1) -> bytes:
        """Remove each key once; return one byte per key: 1 = removed, 0 = was absent."""
    async def count_many(self, keys: _Source, /, *, nulls: _Nulls = "raise", threads: int = 1) -> bytes:
        """Return count_of() of all keys: one byte per key."""
