"""The keys of filters for asyncio: copies, columns, and slices of iterables."""

import asyncio
import contextvars
import time
from collections.abc import AsyncIterable, Iterator
from itertools import islice
from typing import Any, NoReturn

from . import _bloomfilter

TURN = 0.001  # after about this many seconds of work the event loop runs other tasks
FEW, MANY = 16, 1 << 16  # minimum and maximum number of keys in a slice
MANY_AWAITED = 1 << 12  # maximum for an async iterable, which may never suspend
BATCH = 1000  # keys per round trip to Redis
LARGE = 1 << 20  # a key of at least this many bytes is not handled in the event loop's thread

# the filter whose rebuild() reads its keys in this context, or None
read_by: contextvars.ContextVar[Any] = contextvars.ContextVar("read_by", default=None)


def size_of(key: Any) -> int:
    return getattr(key, "nbytes", None) or (len(key) if hasattr(key, "__len__") else 0)


def own_copy(key: Any) -> Any:
    """Returns the key, or a copy of a buffer that may change before it is used."""
    if type(key) in (str, bytes, int) or hasattr(key, "__index__"):
        return key
    try:
        view = memoryview(key)
    except TypeError:
        return key
    one = view.ndim == 1 and view.format.lstrip("@=<>!") in ("B", "b", "c")
    return view.tobytes() if one else key


def is_column(keys: Any) -> bool:
    """Returns true if keys must not be sliced: the synchronous method reads them without Python
    code, or refuses them."""
    if isinstance(keys, _bloomfilter.BloomFilter) or any(
        hasattr(keys, name) for name in ("__array__", "__arrow_c_array__", "__arrow_c_stream__")
    ):
        return True
    try:
        memoryview(keys).release()
    except TypeError:
        return isinstance(keys, str)
    return True


class Pace:
    """The number of keys in a slice: about TURN seconds of work, or one round trip."""

    def __init__(self, local: bool) -> None:
        self.local = local
        self.size = 64 if local else BATCH

    def start(self) -> None:
        self.started = time.perf_counter()

    def adapt(self) -> None:
        if self.local:
            share = TURN / max(time.perf_counter() - self.started, 1e-6)
            self.size = int(min(max(self.size * min(share, 2), FEW), MANY))


class Slices:
    """Divides the keys of an iterable or an async iterable into lists.  If the iterable raises an
    exception, the keys before it are the last slice, and `fault` is the exception."""

    def __init__(self, keys: Any) -> None:
        self.awaits = isinstance(keys, AsyncIterable)
        self.keys: Any = aiter(keys) if self.awaits else map(own_copy, keys)
        self.ended = False
        self.fault: Exception | None = None

    async def next(self, pace: Pace) -> list[Any]:
        keys: list[Any] = []
        size = min(pace.size, MANY_AWAITED) if self.awaits else pace.size
        pace.start()
        try:
            if self.awaits:
                async for key in self.keys:
                    keys.append(own_copy(key))
                    if len(keys) >= size:
                        break
                pace.start()
            else:
                keys.extend(islice(self.keys, size))
        except Exception as error:
            self.fault = error
        self.ended = len(keys) < size
        return keys


def raise_from_start(error: Exception, done: int) -> NoReturn:
    """Raises the exception of a slice, with the key's number counted from the first slice."""
    index = getattr(error, "index", None)
    if index is None or not done:
        raise error
    text = str(error).replace(f"key {index}:", f"key {done + index}:", 1)
    again: Any = type(error)(text)
    again.index = done + index
    raise again from error.__cause__


class Stopped(Exception):
    pass


class Feed:
    """The keys of a rebuild.  The synchronous method iterates over this object in a greenlet or a
    thread; the iterable itself is read in the event loop."""

    def __init__(self, filter: Any, keys: Any) -> None:
        self.filter = filter
        self.slices = Slices(keys)
        self.pace = Pace(True)
        self.reading: Any = None  # a task
        self.stopped = False

    def __iter__(self) -> Iterator[Any]:
        while not self.slices.ended:
            yield from self.filter._wait(self.read())
            if self.slices.fault:
                raise self.slices.fault
            self.pace.adapt()

    async def read(self) -> list[Any]:
        await asyncio.sleep(0)
        if not self.stopped:
            self.reading = asyncio.ensure_future(self.next())
            await asyncio.wait([self.reading])
        if self.stopped:
            raise Stopped
        keys: list[Any] = self.reading.result()
        return keys

    async def next(self) -> list[Any]:
        read_by.set(self.filter)
        return await self.slices.next(self.pace)

    def stop(self) -> None:
        self.stopped = True
        if self.reading:
            self.reading.cancel()
