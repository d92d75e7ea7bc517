"""Import all of it from the package: `from bloomfilter import BloomFilter`.

m = bits, n = keys it is sized for, k = positions per key, p = false-positive rate at n keys.
Everywhere: add() is True when the key is SURELY NEW, False when it was probably there already.
"""

from collections.abc import Callable, Iterable
from os import PathLike
from types import TracebackType
from typing import (
    Any,
    ClassVar,
    Literal,
    Protocol,
    SupportsFloat,
    SupportsIndex,
    TypeAlias,
    TypedDict,
    type_check_only,
)

from typing_extensions import Buffer, Required, Self

__version__: str

# For the package's own modules.
def _path_of(storage: _Path, /) -> str | None: ...
def _open(storage: _Path, **parameters: Any) -> BloomFilter: ...
def _from_bytes(data: Buffer, **parameters: Any) -> BloomFilter: ...
def _process() -> int: ...
def _set_nowait(on: bool, /) -> None: ...
def _hide_passwords(text: str, /) -> str: ...
def _read_secret(path: _Path, /) -> bytes: ...

# str as UTF-8, bytes-like as it is, int (anything with __index__) as its decimal text.  Type checkers let a bool
# pass, because it is a subclass of int; at run time it is a TypeError.
_Key: TypeAlias = str | Buffer | SupportsIndex
_Path: TypeAlias = str | bytes | PathLike[str] | PathLike[bytes]
# Or a client of redis-py: Redis, RedisCluster.  Its types are not named here, because it need not be installed.
_Storage: TypeAlias = _Path | object
_Real: TypeAlias = SupportsFloat | SupportsIndex

# What has the Arrow PyCapsule interface: a column of text, bytes or integers, never a table.
@type_check_only
class _Writable(Protocol):
    def write(self, data: bytes, /) -> object: ...

class _Readable(Protocol):
    def read(self) -> Buffer: ...

class _ArrowArray(Protocol):
    def __arrow_c_array__(self) -> tuple[Any, Any]: ...

@type_check_only
class _ArrowStream(Protocol):
    def __arrow_c_stream__(self) -> Any: ...

_Keys: TypeAlias = Iterable[_Key] | _ArrowArray | _ArrowStream
# A numpy array of booleans; a memoryview of format "?" where numpy is not installed.
_Mask: TypeAlias = Any
# What happens once the filter holds more keys than n.
_Overfull: TypeAlias = Literal["warn", "raise", "ignore"]
# A null (None, NaN, NA): in a column it raises before any key is taken, or it is left out.
_Nulls: TypeAlias = Literal["raise", "skip"]

@type_check_only
class _Info(TypedDict):
    m: int
    n: int
    k: int
    p: float
    scheme: str
    home: str
    storage: str | None  # without its password
    key: str | None
    counting: bool
    shards: int
    parts: list[_Part]  # as part_info() has them
    grow: float
    window: float
    bytes: int
    keyed: bool
    read_only: bool
    ones: int
    fill_ratio: float
    count: int
    fpr: float
    saturated: bool

@type_check_only
class _Plan(TypedDict):
    m: int
    n: int
    k: int
    p: float
    scheme: str

@type_check_only
class _Part(TypedDict, total=False):
    first_bit: Required[int]
    m: Required[int]
    n: Required[int]
    p: Required[float]
    keys: int
    since: float | None
    until: float | None

class Error(ValueError):
    """Stored data that is damaged, foreign or made with other parameters, and what a filter cannot do.

    errno is ENOENT where Redis has no such filter (a file that does not exist is FileNotFoundError).
    """

class FullError(Error):
    """With overfull="raise": the filter holds more keys than it is sized for.

    In a batch index is the number of the first key that is not added; the keys before it are.
    """

    index: int

class SaturationWarning(UserWarning):
    """More than half of a filter's bits are set: it holds more keys than it was sized for, or soon will."""

class BloomFilter:
    """A set that answers `key in bf` with "surely not" or "probably", in a few bits per key.

        BloomFilter(n=1_000_000, p=0.01)     sized for n keys at false-positive rate p
        BloomFilter(m, n)                    the classic one: m bits for n keys

    m = bits, n = keys it is sized for, k = positions per key, p = false-positive rate at n keys; any sufficient set of them.
    grow=2.0: it grows past n and keeps p.  window=seconds: it forgets keys that long after they were added last, n being
    the keys of one window.  Keys are str (as UTF-8), bytes-like or int (as decimal text): 42, "42" and b"42" are one key.

    bf.add(key) is True when the key is SURELY NEW, False when it was probably there already.
    """

    def __init__(
        self,
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
    ) -> None:
        """Any sufficient set of m, n, k, p: (m, n), (n, p), (m, k), (m, p).  A storage alone is opened.

        shards: equal slices, 1 to 4096, all bits of a key in one; in Redis each is a key of its own.  None: 1, in Redis as
        many as m needs.  And for filters in Redis only (docs/redis.md):
        timeout: seconds a trip may take, 0.001 to 86400; it overrides the URL's.
        retry_after: seconds for which the calls of this process fail immediately after the server did not answer in
        time; then one call tries.  None: 1, 0: each call tries; it overrides the URL's.
        cache: keys known to be present need no trip; takes up to m / 8 bytes of memory.
        cache_max_age: seconds after which the bits must be seen again before the cache answers, None: 1.  So long a filter
        that others cleared or deleted may seem to be as it was.
        wait_replicas: an add returns when so many replicas have it; an Error where too few have it in time, though it is
        added then.
        adopt: another system's bitmap becomes a filter of ours too, and that system goes on using it; give scheme and what it
        leaves open of m and k.
        For mapped files only (docs/mapped-files.md):
        exclusive: this filter is the file's only writer until it is closed: adds take as long as in memory.  An Error while
        others write to the file; they get the same while this filter is open.
        overfull: once the filter holds more keys than n and more than half of its bits are set: "warn" (None): one
        SaturationWarning; "raise": adds of keys are a FullError until it is cleared, rebuilt or grown; "ignore": neither.
        warn=False is the earlier name of overfull="ignore".
        """
    @classmethod
    def open(
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
    @classmethod
    def random_secret(cls) -> bytes:
        """16 random bytes from the kernel, for secret=.  Keep them: a keyed filter opens with its own secret only."""
    @classmethod
    def plan(
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
    ) -> _Plan:
        """What the constructor would make of these arguments, without making it."""

    # what it is
    @property
    def m(self) -> int:
        """Number of bits, or of counters."""
    @property
    def n(self) -> int:
        """Number of keys it is sized for."""
    @property
    def k(self) -> int:
        """Positions per key."""
    @property
    def p(self) -> float:
        """False-positive rate at n keys: as asked, or by the scheme's formula."""
    @property
    def scheme(self) -> str:
        """Name of the scheme: how a key becomes positions."""
    @property
    def storage(self) -> Any:
        """Path, URL or client as given; None for process memory."""
    @property
    def shards(self) -> int:
        """Into how many equal slices the bits are cut, all bits of a key in one; 1 = not at all."""
    @property
    def bitset(self) -> bytes:
        """The bits, ceil(m / 8) bytes: bit i is byte i // 8, mask 0x80 >> (i % 8).  Of counters ceil(m / 2) bytes."""

    @property
    def grow(self) -> float | None:
        """Factor it grows by; None where it does not grow."""
    @property
    def window(self) -> float | None:
        """Seconds it remembers a key at least; None where it does not forget."""
    @property
    def parts(self) -> int | None:
        """Steps a window is forgotten in; None where it does not forget."""
    @property
    def created(self) -> bool:
        """Whether this constructor just made it, so that it is to be filled. False where it was there before (open, load,
        from_bytes), and of copies and unions."""
    def part_info(self) -> list[_Part]:
        """The parts of a filter that grows or forgets, a dict each: first_bit, m, n, p, and keys (grow) or since and until
        (window; seconds of its clock, None where the part is unused)."""

    # one key
    def add(self, key: _Key, /) -> bool:
        """Add a key.  True: it is SURELY NEW, it was never added before.  False: it was probably there already.

        Some other packages answer the other way round.
        """
    def addKey(self, key: _Key, /) -> bool:
        """The classic name of add(): True means that the key is SURELY NEW."""
    def existKey(self, key: _Key, /) -> bool:
        """The classic name of `key in bf`: False means surely never added."""
    def __contains__(self, key: _Key, /) -> bool:
        """False: surely never added.  True: probably added."""
    def hashcode(self, key: _Key, /) -> list[int]:
        """The k positions of a key in the scheme's order; repeats are possible."""

    # many keys
    def update(self, keys: _Keys | BloomFilter, /, *, nulls: _Nulls = "raise") -> int:
        """Add all keys of an iterable or a column; return how many were SURELY NEW.

        Of another filter of equal parameters: self |= other; return how many keys came new, estimated.
        Arrow columns (pyarrow, polars, pandas), numpy 'S' and 'U' arrays (NUL bytes at the end are padding) and 1-d arrays
        of integers are read without an object per key and without the GIL.
        A bad key (TypeError, ValueError) is named by its number, also as the exception's index; the keys before it
        are added. A column (Arrow, numpy, pandas, polars) with a null raises TypeError before any key is added;
        nulls="skip" leaves nulls out.
        """
    def add_many(self, keys: _Keys, /, *, nulls: _Nulls = "raise") -> bytes:
        """Add all; one byte per key: 1 = SURELY NEW, 0 = probably there already. nulls as in update(): 0 for a null.

        The answer fits itertools.compress(keys, answer) and numpy.frombuffer(answer, bool).
        """
    def contains_many(self, keys: _Keys, /, *, nulls: _Nulls = "raise") -> bytes:
        """One byte per key: 1 = probably added, 0 = surely never added. nulls as in update(): 0 for a null."""
    def add_mask(self, keys: _Keys, /, *, nulls: _Nulls = "raise") -> _Mask:
        """add_many() as a mask of booleans, True = SURELY NEW: df[seen.add_mask(df["url"])].

        A read-only numpy array, for pandas, polars and numpy; without numpy a memoryview of format "?".
        """
    def contains_mask(self, keys: _Keys, /, *, nulls: _Nulls = "raise") -> _Mask:
        """contains_many() as a mask like that of add_mask(): df[~seen.contains_mask(df["url"])]."""
    def update_lines(
        self, data: Buffer, /, sep: Buffer = b"\n", *, last: bool = False, keep: bool | None = None
    ) -> tuple[int, int, int, bytes]:
        """Add the keys of a buffer, each ended by the byte sep: (keys, new, consumed, kept).

        What follows the last sep is not read: pass it again before more data. last=True: it is a key as well, if not empty.
        kept: b"", or the lines that were SURELY NEW (keep=True) or seen (keep=False), each with its sep.
        """
    def contains_lines(
        self, data: Buffer, /, sep: Buffer = b"\n", *, last: bool = False, keep: bool | None = None
    ) -> tuple[int, int, int, bytes]:
        """Test the keys of a buffer: (keys, present, consumed, kept); keep=True: present ones, keep=False: absent ones."""

    # sets
    def union(self, other: BloomFilter, /) -> Self:
        """A new filter with the keys of both."""
    def intersection(self, other: BloomFilter, /) -> Self:
        """A new filter with the bits of both; it may hold more than the common keys."""
    def __or__(self, other: BloomFilter, /) -> Self: ...
    def __and__(self, other: BloomFilter, /) -> Self: ...
    def __ror__(self, other: BloomFilter, /) -> Self: ...
    def __rand__(self, other: BloomFilter, /) -> Self: ...
    def __ior__(self, other: BloomFilter, /) -> Self: ...
    def __iand__(self, other: BloomFilter, /) -> Self: ...
    def __eq__(self, other: object, /) -> bool:
        """Equal m, k, scheme and bits."""
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __le__(self, other: BloomFilter, /) -> bool:
        """All bits of this one are in the other: true if all its keys are."""
    def __lt__(self, other: BloomFilter, /) -> bool: ...
    def __ge__(self, other: BloomFilter, /) -> bool: ...
    def __gt__(self, other: BloomFilter, /) -> bool: ...
    def issubset(self, other: BloomFilter, /) -> bool:
        """self <= other: all bits are set in the other, too.  True if all keys are in the other."""
    def issuperset(self, other: BloomFilter, /) -> bool:
        """self >= other; see issubset()."""
    def union_count(self, other: BloomFilter, /) -> int:
        """Estimated number of keys in self | other, without making it."""
    def intersection_count(self, other: BloomFilter, /) -> int:
        """Estimated number of keys that both have: the counts of both less union_count()."""
    def copy(self) -> Self:
        """An independent copy in memory, whatever the home of this filter."""
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: dict[int, Any], /) -> Self: ...

    # what is in it
    def __len__(self) -> int:
        """Estimated number of distinct keys."""
    def __bool__(self) -> bool:
        """Whether any bit is set."""
    @property
    def fill_ratio(self) -> float:
        """Share of the bits that are 1 now.  One pass over the bits."""
    @property
    def fpr(self) -> float:
        """False-positive rate at the present fill, by the scheme's formula.  One pass over the bits."""
    @property
    def saturated(self) -> bool:
        """Whether more than half of the bits are 1: it holds more than it was sized for, or soon will."""
    def info(self) -> _Info:
        """What the filter is and what is in it.  One pass over the bits."""
    def clear(self) -> None:
        """Forget all keys."""

    # bytes
    def to_bytes(self, *, format: str | None = None) -> bytes:
        """The filter as bytes, the same in every language; see from_bytes().

        format: as another system writes them, "guava", "bits" or "bits-lsb" (docs/migrate.md).
        """
    @classmethod
    def from_bytes(
        cls,
        data: Buffer,
        *,
        m: SupportsIndex | None = None,
        n: SupportsIndex | None = None,
        k: SupportsIndex | None = None,
        p: _Real | None = None,
        scheme: str | None = None,
        secret: Buffer | None = None,
        format: str | None = None,
        clock: Callable[[], _Real] | None = None,
        hashes: Iterable[Callable[[bytes], SupportsIndex]] | None = None,
    ) -> Self:
        """A filter in memory from what to_bytes() gave.  Parameters given must be those of the data.

        A keyed filter needs its secret.  format: as another system wrote them, "guava", "bits", "bits-lsb" or "cells"; bare
        bits need scheme, m and k.
        """
    def to_base64(self) -> str:
        """What to_bytes() gives, as base64 in one line."""
    @classmethod
    def from_base64(
        cls,
        text: str,
        *,
        m: SupportsIndex | None = None,
        n: SupportsIndex | None = None,
        k: SupportsIndex | None = None,
        p: _Real | None = None,
        scheme: str | None = None,
        secret: Buffer | None = None,
        format: str | None = None,
        clock: Callable[[], _Real] | None = None,
        hashes: Iterable[Callable[[bytes], SupportsIndex]] | None = None,
    ) -> Self:
        """A filter in memory from what to_base64() gave; otherwise as from_bytes().  White space does not count."""
    def save(self, path: _Path | _Writable, /) -> None:
        """Write the filter to a file, by rename: no partial file stays behind.

        An object with write() gets the bytes of to_bytes().
        """
    def _save_new(self, path: _Path, /) -> None: ...
    @classmethod
    def load(
        cls,
        path: _Path | _Readable,
        *,
        m: SupportsIndex | None = None,
        n: SupportsIndex | None = None,
        k: SupportsIndex | None = None,
        p: _Real | None = None,
        scheme: str | None = None,
        secret: Buffer | None = None,
        clock: Callable[[], _Real] | None = None,
        hashes: Iterable[Callable[[bytes], SupportsIndex]] | None = None,
    ) -> Self:
        """Read a saved file into memory.  open() stays bound to the file instead.

        Of an object with read(), the bytes from its place to its end.
        """
    def __reduce__(self) -> tuple[Any, ...]: ...
    def __sizeof__(self) -> int: ...

    # life
    def expire(self, seconds: float | None, /) -> None:
        """Filters in Redis: gone for everybody after so many seconds; None = never."""
    def rebuild(self, keys: Iterable[_Key], /) -> int:
        """Make it hold these keys and no others, for everybody who uses it; how many were surely different.

        Until all keys are read it is used as ever, and no key that is in the old and in the new ones is ever absent.
        Memory and files: keys that anybody adds meanwhile are kept; it needs room for the bits once more; an exception
        changes nothing, and whoever dies leaves the old keys or the new ones. Redis: keys that others add meanwhile are
        kept only if they are among these; with shards, one shard after the other; the time to live stays.
        Not for filters that grow or forget.
        """
    def delete(self) -> None:
        """Filters in Redis: delete it there, for everybody."""
    def sync(self) -> None:
        """Return once everything added before is on disk.  Nothing to do in memory."""
    def close(self) -> None:
        """Give the filter's memory or file back.  Twice is fine; any later use is a ValueError."""
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        value: BaseException | None = None,
        trace: TracebackType | None = None,
        /,
    ) -> None: ...

class CountingBloomFilter(BloomFilter):
    """A BloomFilter of 4-bit counters instead of bits: keys can be removed and counted.  m = counters.

        bf = CountingBloomFilter(n=1_000_000, p=0.01)
        bf.add(key); bf.remove(key); bf.count_of(key)

    A counter that reached 15 stays there for ever, so no removal ever makes another key absent.
    """

    def remove(self, key: _Key, /) -> bool:
        """Take one add of the key back.  True: it was there; False: it was absent, and nothing changed.

        Remove only what was added: removing a false positive damages the keys that share its counters.
        """
    def remove_many(self, keys: _Keys, /, *, nulls: _Nulls = "raise") -> bytes:
        """Remove all; one byte per key: 1 = removed, 0 = was absent. nulls as in update(): 0 for a null."""
    def count_of(self, key: _Key, /) -> int:
        """How often the key was added and not removed, at most; 0: surely absent, 15: 15 or more."""
    def count_many(self, keys: _Keys, /, *, nulls: _Nulls = "raise") -> bytes:
        """count_of() for all keys: one byte per key. nulls as in update(): 0 for a null."""
    def to_plain(self) -> BloomFilter:
        """A BloomFilter in memory with the same keys, at a quarter of the size."""
