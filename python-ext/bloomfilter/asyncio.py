"""Filters for asyncio: the same filters, bits and commands, awaited.

    from bloomfilter.asyncio import BloomFilter

    async with await BloomFilter.create(n=1_000_000, p=0.01, storage=client, key="seen") as bf:
        if await bf.add(url):  # SURELY NEW
            ...

A filter of this module has a synchronous filter and calls the methods of that filter, one at a
time: directly (a key in memory or in a file), in a greenlet (a client of redis.asyncio), or in a
thread (everything else)."""

import asyncio
import contextvars
import errno
import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from inspect import iscoroutinefunction

from . import _bloomfilter, _redis
from ._asyncio_keys import (
    BATCH,
    LARGE,
    Feed,
    Pace,
    Slices,
    is_column,
    own_copy,
    raise_from_start,
    read_by,
    size_of,
)
from ._bloomfilter import Error, FullError, _path_of, _set_nowait
from ._mask import mask

__all__ = ["BloomFilter", "CountingBloomFilter", "Error", "FullError"]

# true in code that a client of redis.asyncio runs during a round trip of a filter, and in tasks of
# this code: a list that is empty after the round trip
inside_client = contextvars.ContextVar("inside_client", default=())


def busy(text):
    error = Error(text)
    error.errno = errno.EBUSY
    return error


# ---- how a method is called ----
async def run_here(function):
    return function()


def run_in(executor, function):
    return asyncio.get_running_loop().run_in_executor(executor, function)


def wait_in_thread(loop, coroutine):
    future = asyncio.run_coroutine_threadsafe(coroutine, loop)
    while not wait([future], 1).done:
        if loop.is_closed():
            raise RuntimeError("the event loop has ended")
    return future.result()


def forget(task):
    """Reads the result of a task whose caller is gone: else the event loop logs its exception."""
    if not task.cancelled():
        task.exception()


class Lock:
    """The lock of a filter.  Tasks get it in the order of their calls, and wait LOCK_PATIENCE
    seconds at most."""

    def __init__(self):
        self.locked = False
        self.waiting = deque()  # a future per task

    async def __aenter__(self):
        if not self.locked:
            self.locked = True
            return
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        timer = loop.call_later(_redis.LOCK_PATIENCE, self.give_up, future)
        self.waiting.append(future)
        try:
            await future
        except asyncio.CancelledError:
            if not future.cancelled() and not future.exception():
                self.release()  # the task got the lock and was then cancelled
            raise
        finally:
            timer.cancel()

    async def __aexit__(self, *raised):
        self.release()

    def release(self):
        """Passes the lock to the next task that still waits."""
        while self.waiting:
            future = self.waiting.popleft()
            if not future.done():
                future.set_result(None)
                return
        self.locked = False

    @staticmethod
    def give_up(future):
        if not future.done():
            seconds = _redis.LOCK_PATIENCE
            future.set_exception(
                Error(
                    f"the filter is in use: another task has worked with it for {seconds} seconds"
                )
            )


class Single:
    """A method for one key.  one, many: names of the synchronous methods for one key and for a list
    of keys; answer: converts an answer of `many`."""

    def __init__(self, one, many, answer, doc):
        self.one, self.many, self.answer, self.doc = one, many, answer, doc

    def __set_name__(self, owner, name):
        async def method(filter, key, /):
            if filter._local and size_of(key) < LARGE:
                try:
                    _set_nowait(True)
                    return getattr(filter._filter, self.one)(key)
                except Error as error:  # EBUSY: the call would wait for a lock or a disk
                    if getattr(error, "errno", None) != errno.EBUSY:
                        raise
                finally:
                    _set_nowait(False)
            return await filter._answer_of(self, key)

        method.__name__, method.__doc__ = name, self.doc
        method.__qualname__ = f"{owner.__qualname__}.{name}"
        setattr(owner, name, method)


def call(name, doc):
    """Returns a method that calls the synchronous method and awaits its end."""

    async def method(self, *args, **options):
        return await self._call(getattr(self._filter, name), *args, **options)

    method.__name__ = name
    method.__doc__ = doc
    return method


def value(name):
    return property(lambda self: getattr(self._filter, name), doc=f"As BloomFilter.{name}; no I/O.")


def is_file(storage):
    return isinstance(storage, (str, bytes, os.PathLike)) and _path_of(storage) is not None


class BloomFilter:
    """Use `await BloomFilter.create(...)` or `await BloomFilter.open(storage, ...)`."""

    _kind = _bloomfilter.BloomFilter

    def __init__(self, *args, **parameters):
        raise TypeError(
            f"await {type(self).__name__}.create(...) or .open(storage, ...): a constructor cannot await"
        )

    @classmethod
    async def create(cls, *args, storage=None, **parameters):
        """Create or open a filter, as the constructor of bloomfilter.BloomFilter does.  storage may
        also be a client of redis.asyncio."""
        return await cls._make(cls._kind, args, storage, parameters)

    @classmethod
    async def open(cls, storage, **parameters):
        """Open the filter in a storage, which must exist, and stay bound to it."""
        return await cls._make(cls._kind.open, (), storage, parameters)

    @classmethod
    async def _make(cls, maker, args, storage, parameters):
        self = object.__new__(cls)
        self._storage = storage
        self._lock = Lock()  # held by the task that uses self._filter
        self._holder = None  # the task that runs _take_turn with the lock, or None
        self._tasks = set()  # keeps tasks alive: the event loop has weak references only
        self._asked = []  # (Single, key, future) of keys that wait for the next batch
        self._flush_task = None
        self._local = self._memory = False
        self._executor = None
        self._wait = partial(wait_in_thread, asyncio.get_running_loop())
        if iscoroutinefunction(getattr(storage, "execute_command", None)):
            try:
                from . import _redis_asyncio
            except ImportError as error:
                raise ImportError(
                    "a client of redis.asyncio needs the package greenlet: pip install bloomfilter-shared[asyncio]"
                ) from error
            storage = await _redis_asyncio.adapt(storage)
            self._run, self._wait = _redis_asyncio.Caller(), _redis_asyncio.wait_for
        elif storage is None or is_file(storage):
            self._memory, self._local = storage is None, True
            self._run = partial(run_in, None)
        else:  # a URL or a client of redis-py: calls wait for a server
            self._executor = ThreadPoolExecutor(1, "bloomfilter")
            self._run = partial(run_in, self._executor)
        if storage is not None:
            parameters["storage"] = storage
        self._filter = await self._call(maker, *args, **parameters)
        return self

    # ---- one call at a time ----
    async def _call(self, function, *args, **options):
        """Calls a function that uses the filter.  A call that has begun runs to its end, also if
        the caller is cancelled."""
        self._refuse_circle()
        task = asyncio.create_task(self._take_turn(partial(function, *args, **options)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            if self._holder is not task:
                task.cancel()
            task.add_done_callback(forget)
            raise
        return task.result()

    async def _take_turn(self, function):
        async with self._lock:
            self._holder = asyncio.current_task()
            try:
                return await self._run(function)
            finally:
                self._holder = None

    def _refuse_circle(self):
        """Refuses a call that would wait for the task that has made it."""
        if read_by.get() is self:
            raise Error("the filter is in use: the rebuild that reads these keys must end first")
        if self._lock.locked and inside_client.get():
            raise busy("the filter is in use, and this call was made by code that a client runs")

    # ---- single keys: all that wait at the same time are one batch ----
    async def _answer_of(self, single, key):
        self._refuse_circle()
        future = asyncio.get_running_loop().create_future()
        if self._flush_task is None or self._flush_task.done():
            self._flush_task = asyncio.create_task(self._flush())
            self._flush_task.add_done_callback(self._flush_ended)
        self._asked.append((single, own_copy(key), future))
        return await future

    def _flush_ended(self, task):
        """Ends the wait of the remaining callers: the task was cancelled, perhaps before it began,
        or has waited too long for the lock."""
        if task is self._flush_task:
            error = None if task.cancelled() else task.exception()
            asked, self._asked = self._asked, []
            for *_, future in asked:
                if error and not future.done():
                    future.set_exception(error)
                else:
                    future.cancel()

    async def _flush(self):
        asked = []
        try:
            while self._asked:
                async with self._lock:
                    asked, self._asked = self._asked, []
                    if len(asked) == 1:
                        await self._answer(asked[0][0], asked)
                        continue
                    groups = {}
                    for one in asked:
                        groups.setdefault(one[0], []).append(one)
                    step = 1 if self._local else BATCH
                    for single, group in groups.items():
                        for i in range(0, len(group), step):
                            await self._answer(single, group[i : i + step])
        finally:
            for *_, future in asked:  # without an answer only if the task is cancelled
                future.cancel()

    async def _answer(self, single, group):
        # leaves out cancelled callers, and invalid keys, whose callers get an exception
        group = [one for one in group if not one[2].done() and (len(group) == 1 or self._fits(one))]
        keys = [key for _, key, _ in group]
        answers, error = b"", None
        try:
            if len(keys) == 1:
                answers = [await self._run(partial(getattr(self._filter, single.one), *keys))]
            elif keys:
                answers = await self._run(partial(getattr(self._filter, single.many), keys))
        except FullError as full:  # the keys before its index are in, the key at its index is new
            answers, error = getattr(full, "_answers", b""), full
        except Exception as raised:
            error = raised
        for (*_, future), answer in zip(group, answers):
            if not future.done():
                future.set_result(single.answer(answer))
        refused, there = group[len(answers) :], b""
        if isinstance(error, FullError) and len(refused) > 1:
            try:
                there = await self._run(partial(self._filter.contains_many, keys[-len(refused) :]))
            except Exception as raised:
                error = raised
        again = [one for one, present in zip(refused[1:], there[1:]) if present]
        waiting = {future for *_, future in again}
        for *_, future in refused:
            if future not in waiting and not future.done():
                future.set_exception(
                    FullError(str(error)) if isinstance(error, FullError) else error
                )
        if again:
            await self._answer(single, again)

    def _fits(self, one):
        _, key, future = one
        try:
            self._filter.hashcode(key)
        except Exception as error:
            future.set_exception(error)
        return not future.done()

    add = Single("add", "add_many", bool, "True: SURELY NEW.  False: probably added before.")
    exists = Single("__contains__", "contains_many", bool, "False: surely never added.")
    contains = exists

    def __contains__(self, key):
        raise TypeError("`in` cannot await: use `await bf.exists(key)`")

    # ---- many keys ----
    async def update(self, keys, /, *, nulls="raise", threads=1):
        """Add all keys of an iterable or an async iterable.  Returns how many were SURELY NEW."""
        return sum(await self._batch("update", keys, nulls, threads))

    async def add_many(self, keys, /, *, nulls="raise", threads=1):
        """Add all keys.  Returns one byte per key: 1 = SURELY NEW."""
        return b"".join(await self._batch("add_many", keys, nulls, threads))

    async def contains_many(self, keys, /, *, nulls="raise", threads=1):
        """Returns one byte per key: 0 = surely never added."""
        return b"".join(await self._batch("contains_many", keys, nulls, threads))

    async def add_mask(self, keys, /, *, nulls="raise", threads=1):
        """As add_many(), but returns a mask of booleans."""
        return mask(await self.add_many(keys, nulls=nulls, threads=threads))

    async def contains_mask(self, keys, /, *, nulls="raise", threads=1):
        """As contains_many(), but returns a mask of booleans."""
        return mask(await self.contains_many(keys, nulls=nulls, threads=threads))

    add_hashes = call("add_hashes", "Add keys that are hashed already.  Returns how many were new.")
    contains_hashes = call("contains_hashes", "Returns one byte per hash: 0 = surely never added.")
    add_hashes_mask = call("add_hashes_mask", "As add_hashes(), but returns a mask of booleans.")
    contains_hashes_mask = call(
        "contains_hashes_mask", "As contains_hashes(), but returns a mask of booleans."
    )

    async def _batch(self, name, keys, nulls, threads):
        """Returns the answers of all slices.  Other tasks run between two slices."""
        self._refuse_circle()
        function = partial(getattr(self._filter, name), nulls=nulls, threads=threads)
        if is_column(keys):
            return [await self._call(function, keys)]
        answers, done, pace = [], 0, Pace(self._local)
        slices = Slices(keys)
        while not slices.ended:
            keys = await slices.next(pace)
            try:
                if self._memory:
                    async with self._lock:
                        answers.append(function(keys))
                else:
                    answers.append(await self._call(function, keys))
            except (TypeError, ValueError) as error:
                raise_from_start(error, done)
            if slices.fault:
                raise slices.fault
            pace.adapt()
            done += len(keys)
            await asyncio.sleep(0)
        return answers

    # ---- the rest ----
    async def rebuild(self, keys, /):
        """Replace the contents by the keys of an iterable or an async iterable.  Returns how many
        were SURELY NEW.  If cancelled while the keys are read, the filter does not change."""
        feed = Feed(self, keys)
        try:
            return await self._call(self._filter.rebuild, feed)
        except asyncio.CancelledError:
            feed.stop()
            raise

    clear = call("clear", "Forget all keys.")
    sync = call("sync", "Returns when the keys are on disk.")
    expire = call("expire", "In Redis: delete the filter after these seconds; None: never.")
    delete = call("delete", "In Redis: delete the filter.")
    info = call("info", "Returns the parameters and the state of the filter as a dict.")
    save = call("save", "Write the filter to a file, by rename, or to an object with write().")
    to_bytes = call("to_bytes", "Returns the filter as bytes, the same in every language.")
    to_base64 = call("to_base64", "Returns the bytes of to_bytes() as base64, without line breaks.")

    to_json = call("to_json", "Returns the filter in memory as JSON.")

    async def is_current(self):
        """Returns False if the filter's file or its key in Redis was replaced or deleted."""
        return await self._call(getattr, self._filter, "is_current")

    async def close(self):
        """Close the filter after all earlier calls.  Does not close a client object."""
        await self._call(self._filter.close)
        self._run = run_here  # every call now raises "the filter is closed"
        if self._executor:
            self._executor.shutdown(wait=False)

    async def __aenter__(self):
        return self

    async def __aexit__(self, *raised):
        await self.close()

    m, n, k, p, scheme = value("m"), value("n"), value("k"), value("p"), value("scheme")
    shards, grow, window, parts = value("shards"), value("grow"), value("window"), value("parts")
    created = value("created")
    storage = property(lambda self: self._storage, doc="As it was given.")

    def __repr__(self):
        return f"<{type(self).__qualname__} of asyncio: {self._filter!r}>"


class CountingBloomFilter(BloomFilter):
    """A filter from which keys can be removed."""

    _kind = _bloomfilter.CountingBloomFilter

    remove = Single(
        "remove", "remove_many", bool, "Undo one add of the key.  False: the key is absent."
    )
    count_of = Single(
        "count_of", "count_many", int, "Estimate how often the key was added, up to 15."
    )

    async def remove_many(self, keys, /, *, nulls="raise", threads=1):
        """Remove each key once.  Returns one byte per key: 1 = was present."""
        return b"".join(await self._batch("remove_many", keys, nulls, threads))

    async def count_many(self, keys, /, *, nulls="raise", threads=1):
        """Returns one byte per key: an estimate of how often the key was added, up to 15."""
        return b"".join(await self._batch("count_many", keys, nulls, threads))
