"""Import all of it from the package: `from bloomfilter import BloomFilter`.

m = bits, n = keys the filter is sized for, k = positions per key, p = false-positive rate with n keys.
add() is always True when the key is SURELY NEW, and False when it was probably there already.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
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
def _image_wants(data: Buffer, /) -> int: ...
def _process() -> int: ...
def _set_nowait(on: bool, /) -> None: ...
def _hide_passwords(text: str, /) -> str: ...
def _read_secret(path: _Path, /) -> bytes: ...

# str as UTF-8, bytes-like as it is, int (anything with __index__) as its decimal text.  Type checkers let a bool
# pass, because it is a subclass of int; at run time it raises TypeError.
_Key: TypeAlias = str | Buffer | SupportsIndex
_Path: TypeAlias = str | bytes | PathLike[str] | PathLike[bytes]
# Or a client of redis-py: Redis, RedisCluster.  Its types are not named here, because it need not be installed.
_Storage: TypeAlias = _Path | object
_Real: TypeAlias = SupportsFloat | SupportsIndex
_Whole: TypeAlias = SupportsIndex | float  # a float without a fraction: 1e6
_Seconds: TypeAlias = _Real | timedelta

@type_check_only
class _Writable(Protocol):
    def write(self, data: bytes, /) -> object: ...

class _Readable(Protocol):
    def read(self, n: int, /) -> Buffer: ...

# Anything with the Arrow PyCapsule interface: a column of text, bytes or integers, never a table.
class _ArrowArray(Protocol):
    def __arrow_c_array__(self) -> tuple[Any, Any]: ...

@type_check_only
class _ArrowStream(Protocol):
    def __arrow_c_stream__(self) -> Any: ...

_Keys: TypeAlias = Iterable[_Key] | _ArrowArray | _ArrowStream
_Hashes: TypeAlias = Buffer | _ArrowArray | _ArrowStream
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
    """Stored data is damaged, foreign or has other parameters; or the filter does not support the call.

    errno is ENOENT if Redis does not have the filter, EBUSY if the filter is in use, else None. (A file that does not
    exist raises FileNotFoundError.)
    """

    errno: int | None

class FullError(Error):
    """The filter has no room for a new key: overfull="raise" and it holds n keys, or it cannot grow any more.

    In a batch, index is the number of the first key that was not added; the keys before it were added.
    Adds of keys that are present still return False.
    """

    index: int

class SaturationWarning(UserWarning):
    """More than half of a filter's bits are set: it holds more keys than it was sized for, or soon will."""

class BloomFilter:
    """A set that answers `key in bf` with "surely not" or "probably", in a few bits per key.

        BloomFilter(n=1_000_000, p=0.01)     for n keys, with the false-positive rate p
        BloomFilter(m, n)                    the classic constructor: m bits for n keys

    m = bits, n = keys the filter is sized for, k = positions per key, p = false-positive rate with n keys.
    grow=2.0: the filter grows past n and keeps p.  window=seconds, or a timedelta: the filter forgets a key this long after
    its last add; n is then the number of keys in one window.
    Keys are str (as UTF-8), bytes-like or int (as decimal text): 42, "42" and b"42" are one key.

    bf.add(key) is True when the key is SURELY NEW, and False when it was probably there already.
    """

    def __init__(
        self,
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
    ) -> None:
        """Pass (m, n), (n, p), (m, k) or (m, p); k can be added to each pair.  With storage alone, open the stored filter.

        shards: number of equal slices, 1 to 4096; all bits of a key are in one slice.  In Redis each slice has its own key.
        None: 1, in Redis as many as m needs.
        overfull: what happens when the filter holds more keys than n.  "warn" (None): above 1.1 n one SaturationWarning, before
        a call adds anything; "raise": the filter takes n keys, then new keys raise FullError; "ignore": nothing.
        warn=False is the earlier name of overfull="ignore".

        For mapped files only (docs/mapped-files.md):
        exclusive: this filter is the only writer of the file until it is closed, and adds are as fast as in memory.  Raises
        Error if another process writes to the file; other writers get the same Error while this filter is open.

        For filters in Redis only (docs/redis.md):
        timeout: maximum of seconds for a round trip, 0.001 to 86400; overrides the URL.
        retry_after: after a time-out, calls fail immediately for this many seconds, then one call tries again.  None: 1;
        0: each call tries; overrides the URL.
        cache: keys known to be present need no round trip.  Takes up to m / 8 bytes of memory.
        cache_max_age: maximum age of the cache in seconds; None: 1.  For that time, a filter that another process cleared or
        deleted may seem unchanged.
        wait_replicas: an add returns when this many replicas have the key.  If too few have it in time, the add raises Error,
        but the key is added.
        adopt: makes another system's bitmap a filter of this library; the other system can continue to use it.  Pass scheme,
        and m and k if the scheme does not fix them.
        """
    @classmethod
    def open(
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
    @classmethod
    def random_secret(cls) -> bytes:
        """Return 16 random bytes from the kernel, for secret=.  Keep them: a keyed filter can be opened only with its secret."""
    @classmethod
    def plan(
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
    ) -> _Plan:
        """Return the parameters that the constructor would use with these arguments; create nothing."""

    # what it is
    @property
    def m(self) -> int:
        """Number of bits, or of counters."""
    @property
    def n(self) -> int:
        """Number of keys the filter is sized for."""
    @property
    def k(self) -> int:
        """Positions per key."""
    @property
    def p(self) -> float:
        """False-positive rate with n keys: as passed, or from the scheme's formula."""
    @property
    def scheme(self) -> str:
        """Name of the scheme: how a key becomes positions."""
    @property
    def storage(self) -> Any:
        """Path, URL or client as passed; None for process memory."""
    @property
    def shards(self) -> int:
        """Number of equal slices of the bits; 1: not sharded."""
    @property
    def bitset(self) -> bytes:
        """The bits, ceil(m / 8) bytes: bit i is in byte i // 8, mask 0x80 >> (i % 8).  Counters take ceil(m / 2) bytes."""

    @property
    def grow(self) -> float | None:
        """Factor by which the filter grows; None if it does not grow."""
    @property
    def window(self) -> float | None:
        """Minimum of seconds for which a key is remembered; None if the filter does not forget."""
    @property
    def parts(self) -> int | None:
        """Number of steps in which a window is forgotten; None if the filter does not forget."""
    @property
    def created(self) -> bool:
        """True if this constructor created the filter, which must now be filled.  False if the filter existed before (open,
        load, from_bytes), after a rebuild, and for copies and unions."""
    @property
    def is_current(self) -> bool:
        """False if the filter's file was replaced or deleted, or its key in Redis: open it again.  Always True in memory.
        Raises an exception if Redis cannot be asked."""
    def part_info(self) -> list[_Part]:
        """Return the parts of a growing or forgetting filter.  Each is a dict with first_bit, m, n, p, and keys (grow) or since and
        until (window: seconds of its clock, None if the part is unused)."""

    # one key
    def add(self, key: _Key, /) -> bool:
        """Add a key.  True: it is SURELY NEW, it was never added before.  False: it was probably there already.

        Some other packages return the opposite.
        """
    def addKey(self, key: _Key, /) -> bool:
        """The classic name of add(): True means that the key is SURELY NEW."""
    def existKey(self, key: _Key, /) -> bool:
        """The classic name of `key in bf`: False means surely never added."""
    def __contains__(self, key: _Key, /) -> bool:
        """False: surely never added.  True: probably added."""
    def hashcode(self, key: _Key, /) -> list[int]:
        """Return the k positions of a key in the scheme's order.  A position may occur twice."""

    # many keys
    def update(self, keys: _Keys | BloomFilter, /, *, nulls: _Nulls = "raise", threads: int = 1) -> int:
        """Add all keys of an iterable or a column; return how many were SURELY NEW.

        With another filter of equal parameters: self |= other; return an estimate of the new keys.
        Arrow columns (pyarrow, polars, pandas), numpy 'S' and 'U' arrays (NUL bytes at the end are padding) and 1-d arrays
        of integers are read without an object per key and without the GIL.
        A bad key raises TypeError or ValueError, whose index is the number of the key; the keys before it are added.
        A column (Arrow, numpy, pandas, polars) with a null raises TypeError before any key is added; nulls="skip" leaves
        nulls out.
        threads: how many threads work on the keys of an Arrow column or an array, in memory or in a file; 0: one per
        processor.  Bits and answers do not depend on it.
        """
    def add_many(self, keys: _Keys, /, *, nulls: _Nulls = "raise", threads: int = 1) -> bytes:
        """Add all keys; return one byte per key: 1 = SURELY NEW, 0 = probably there already (or a null, with nulls="skip").

        Use the result with itertools.compress(keys, result) or numpy.frombuffer(result, bool).
        """
    def contains_many(self, keys: _Keys, /, *, nulls: _Nulls = "raise", threads: int = 1) -> bytes:
        """Return one byte per key: 1 = probably added, 0 = surely never added (or a null, with nulls="skip")."""
    def add_mask(self, keys: _Keys, /, *, nulls: _Nulls = "raise", threads: int = 1) -> _Mask:
        """Like add_many(), but return a mask of booleans, True = SURELY NEW: df[seen.add_mask(df["url"])].

        The mask is a read-only numpy array, for pandas and polars too; without numpy it is a memoryview of format "?".
        """
    def contains_mask(self, keys: _Keys, /, *, nulls: _Nulls = "raise", threads: int = 1) -> _Mask:
        """Like contains_many(), but return a mask of booleans as add_mask() does: df[~seen.contains_mask(df["url"])]."""
    def add_hashes(self, hashes: _Hashes, /, *, nulls: _Nulls = "raise", threads: int = 1) -> int:
        """Add keys that are hashed already, to a filter of scheme "hashes64"; return how many were SURELY NEW.

        hashes: 64-bit integers, uniform as those of XXH3 or BLAKE2b: a numpy array, an Arrow array, array("Q"), any buffer of
        int64 or uint64. The hash selects the bits itself. Such a filter takes hashes only; other filters take none
        (ValueError).
        """
    def contains_hashes(self, hashes: _Hashes, /, *, nulls: _Nulls = "raise", threads: int = 1) -> bytes:
        """Return one byte per hash, as contains_many() does for keys."""
    def add_hashes_mask(self, hashes: _Hashes, /, *, nulls: _Nulls = "raise", threads: int = 1) -> _Mask:
        """Like add_hashes(), but return a mask of booleans as add_mask() does."""
    def contains_hashes_mask(self, hashes: _Hashes, /, *, nulls: _Nulls = "raise", threads: int = 1) -> _Mask:
        """Like contains_hashes(), but return a mask of booleans as add_mask() does."""
    def update_lines(
        self,
        data: Buffer,
        /,
        sep: Buffer = b"\n",
        *,
        last: bool = False,
        keep: bool | None = None,
        threads: int = 1,
    ) -> tuple[int, int, int, bytes]:
        """Add the keys of a buffer; the byte sep ends each key.  Return (keys, new, consumed, kept).

        Bytes after the last sep are not read: pass them again before the next data.  With last=True these bytes, if there
        are any, are the last key.
        With keep=True, kept contains the SURELY NEW lines; with keep=False it contains the other lines; with keep=None it
        is empty.  Each line includes its sep.
        """
    def contains_lines(
        self,
        data: Buffer,
        /,
        sep: Buffer = b"\n",
        *,
        last: bool = False,
        keep: bool | None = None,
        threads: int = 1,
    ) -> tuple[int, int, int, bytes]:
        """Test the keys of a buffer, and return (keys, present, consumed, kept).

        With keep=True, kept contains the lines of present keys; with keep=False it contains the lines of absent keys.
        """

    # sets
    def union(self, other: BloomFilter, /) -> Self:
        """Return a new filter with the keys of both."""
    def intersection(self, other: BloomFilter, /) -> Self:
        """Return a new filter with the bits that both have.  It may have more false positives than a filter of the common keys."""
    def __or__(self, other: BloomFilter, /) -> Self: ...
    def __and__(self, other: BloomFilter, /) -> Self: ...
    def __ror__(self, other: BloomFilter, /) -> Self: ...
    def __rand__(self, other: BloomFilter, /) -> Self: ...
    def __ior__(self, other: BloomFilter, /) -> Self: ...
    def __iand__(self, other: BloomFilter, /) -> Self: ...
    def __eq__(self, other: object, /) -> bool:
        """True if m, k, scheme and bits are equal."""
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __le__(self, other: BloomFilter, /) -> bool:
        """True if the other filter has all bits of this one, which is so if it has all keys of this one."""
    def __lt__(self, other: BloomFilter, /) -> bool: ...
    def __ge__(self, other: BloomFilter, /) -> bool: ...
    def __gt__(self, other: BloomFilter, /) -> bool: ...
    def issubset(self, other: BloomFilter, /) -> bool:
        """self <= other: True if the other filter has all bits of this one, which is so if it has all keys of this one."""
    def issuperset(self, other: BloomFilter, /) -> bool:
        """self >= other; see issubset()."""
    def union_count(self, other: BloomFilter, /) -> int:
        """Return the estimated number of keys in self | other, without creating that filter."""
    def intersection_count(self, other: BloomFilter, /) -> int:
        """Return the estimated number of keys that both have: len(self) + len(other) - union_count(other)."""
    def copy(self) -> Self:
        """Return an independent copy in memory, also of a filter in a file or in Redis."""
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: dict[int, Any], /) -> Self: ...

    # what is in it
    def __len__(self) -> int:
        """Estimated number of distinct keys."""
    def __bool__(self) -> bool:
        """True if any bit is set. An empty filter is false, as an empty set is: write `if bf is None`, not `bf or create()`."""
    @property
    def fill_ratio(self) -> float:
        """Share of the bits that are 1 now.  Reads all bits."""
    @property
    def fpr(self) -> float:
        """False-positive rate now, by the scheme's formula.  Reads all bits."""
    @property
    def saturated(self) -> bool:
        """True if more than half of the bits are 1: the filter holds more keys than n, or soon will."""
    def info(self) -> _Info:
        """Return parameters and state of the filter as a dict.  Reads all bits."""
    def clear(self) -> None:
        """Remove all keys."""

    # bytes
    def to_bytes(self, *, format: str | None = None) -> bytes:
        """Return the filter as bytes, the same in every language; see from_bytes().

        format: return the bytes of another system instead: "guava", "redisbloom", "bits" or "bits-lsb" (docs/migrate.md).
        """
    @classmethod
    def from_bytes(
        cls,
        data: Buffer,
        *,
        m: _Whole | None = None,
        n: _Whole | None = None,
        k: _Whole | None = None,
        p: _Real | None = None,
        scheme: str | None = None,
        secret: Buffer | None = None,
        overfull: _Overfull | None = None,
        format: str | None = None,
        clock: Callable[[], _Real] | None = None,
        hashes: Iterable[Callable[[bytes], SupportsIndex]] | None = None,
    ) -> Self:
        """Return a filter in memory from the bytes of to_bytes().  Parameters that you pass must match the data.
        overfull works as in the constructor: it is not stored.

        A keyed filter needs its secret.
        format: data has the format of another system: "guava", "redisbloom", "bits", "bits-lsb" or "cells"; all but the first
        two need scheme, m and k (docs/migrate.md).
        """
    def to_redisbloom(self, storage: _Storage, key: str | None = None) -> None:
        """Create a filter of the module RedisBloom (BF.*) with these contents, by BF.LOADCHUNK: under a temporary name, then it
        gets its name in one step.  The filter must be of scheme "redisbloom"; with grow it is a scaling one.

        storage: the URL of the server, or a client of redis-py.
        key: the name of the filter, if the URL has none.  If it is in use, FileExistsError.
        """
    @classmethod
    def from_redisbloom(cls, storage: _Storage, key: str | None = None) -> Self:
        """Return a filter in memory with the contents of a filter of the module RedisBloom (BF.*), by BF.SCANDUMP.  If a
        key is added to it during the call, that is an error.  Arguments as in to_redisbloom()."""
    def to_base64(self) -> str:
        """Return the bytes of to_bytes() as base64, in one line."""
    @classmethod
    def from_base64(
        cls,
        text: str,
        *,
        m: _Whole | None = None,
        n: _Whole | None = None,
        k: _Whole | None = None,
        p: _Real | None = None,
        scheme: str | None = None,
        secret: Buffer | None = None,
        overfull: _Overfull | None = None,
        format: str | None = None,
        clock: Callable[[], _Real] | None = None,
        hashes: Iterable[Callable[[bytes], SupportsIndex]] | None = None,
    ) -> Self:
        """Return a filter in memory from the text of to_base64().  Other arguments as in from_bytes().  White space is ignored."""
    def to_json(self) -> str:
        """Return {"bloomfilter": "<the base64 of to_bytes()>"}, as PHP's json_encode() does.  For filters in memory without a
        secret; of a filter in a file or in Redis use copy().to_json()."""
    @classmethod
    def from_json(
        cls,
        text: str | Mapping[str, Any],
        *,
        m: _Whole | None = None,
        n: _Whole | None = None,
        k: _Whole | None = None,
        p: _Real | None = None,
        scheme: str | None = None,
        secret: Buffer | None = None,
        overfull: _Overfull | None = None,
        clock: Callable[[], _Real] | None = None,
        hashes: Iterable[Callable[[bytes], SupportsIndex]] | None = None,
    ) -> Self:
        """Return a filter in memory from the text of to_json(), or from the dict that json.loads() returns for it.  Other
        arguments as in from_bytes()."""
    def save(self, path: _Path | _Writable, /) -> None:
        """Write the filter to a file, by rename: no partial file is left.

        If path is an object with write(), write the bytes of to_bytes() to it.  If it is a Redis URL, create a filter in Redis
        with these contents, in one step (with shards, one shard after the other); raise FileExistsError if that filter exists.
        """
    def _save_new(self, path: _Path, /) -> None: ...
    def _expires_in(self) -> float: ...
    @classmethod
    def load(
        cls,
        path: _Path | _Readable,
        *,
        m: _Whole | None = None,
        n: _Whole | None = None,
        k: _Whole | None = None,
        p: _Real | None = None,
        scheme: str | None = None,
        secret: Buffer | None = None,
        overfull: _Overfull | None = None,
        clock: Callable[[], _Real] | None = None,
        hashes: Iterable[Callable[[bytes], SupportsIndex]] | None = None,
    ) -> Self:
        """Read a saved file, or a filter at a Redis URL, into memory.  Later adds do not change it, in contrast to open().
        overfull works as in the constructor: it is not stored.

        If path is an object with read(n), read exactly one filter from its position: other filters or data may follow.
        """
    def __reduce__(self) -> tuple[Any, ...]: ...
    def __sizeof__(self) -> int: ...

    # life
    def expire(self, seconds: float | timedelta | None, /) -> None:
        """For a filter in Redis: Redis deletes it after this time (seconds, or a timedelta); None: never."""
    def rebuild(self, keys: Iterable[_Key], /) -> int:
        """Replace the contents by these keys, for all users of the filter; return how many keys were surely different.

        The filter can be used during the call, and a key that is in the old and in the new contents is never absent.
        Memory and files: keys that any process adds during the call are kept.  The rebuild needs space for a second bitmap.  After
        an exception the filter is unchanged; if the process dies, it contains either the old or the new keys.
        Redis: keys that other processes add during the call are kept only if the new keys contain them.  Shards are replaced one
        after the other.  The time to live is kept.
        Raises Error for filters that forget, and for filters outside of Redis that grow.
        """
    def delete(self) -> None:
        """Delete a filter in Redis, for all its users."""
    def sync(self) -> None:
        """Return when all earlier adds are on disk.  Does nothing for a filter in memory."""
    def close(self) -> None:
        """Release the memory or file.  A second call does nothing; any other later use raises ValueError.

        A call that is running in the filter (in another thread, or one that called the code that
        calls close) continues, and the filter is released when it ends.  __init__ raises Error then."""
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

    A counter that reached 15 stays at 15, so the removal of an added key never makes another key absent.
    """

    def remove(self, key: _Key, /) -> bool:
        """Undo one add of the key.  True: it was there.  False: it was absent, and nothing changed.

        Remove only keys that were added: removing a false positive lowers counters of other keys.
        """
    def remove_many(self, keys: _Keys, /, *, nulls: _Nulls = "raise", threads: int = 1) -> bytes:
        """Remove all keys; return one byte per key: 1 = removed, 0 = was absent (or a null, with nulls="skip")."""
    def count_of(self, key: _Key, /) -> int:
        """Return an upper bound for the adds minus the removals of the key.  0: surely absent; 15: 15 or more."""
    def count_many(self, keys: _Keys, /, *, nulls: _Nulls = "raise", threads: int = 1) -> bytes:
        """Return count_of() of all keys: one byte per key (0 for a null, with nulls="skip")."""
    def to_plain(self) -> BloomFilter:
        """Return a BloomFilter in memory with the same keys, at a quarter of the size."""
