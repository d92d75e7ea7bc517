"""bloomfilter.asyncio leaves the event loop to others: long calls give it turns."""

import asyncio
import errno
import threading

import pytest

redis = pytest.importorskip("redis")
pytest.importorskip("redis.asyncio")
pytest.importorskip("greenlet")

import bloomfilter  # noqa: E402
from bloomfilter import _bloomfilter, _redis  # noqa: E402
from bloomfilter._asyncio_keys import LARGE  # noqa: E402
from bloomfilter.asyncio import BloomFilter, CountingBloomFilter, Error  # noqa: E402

MILLION = 1_000_000


class Ticking:
    """How many turns the event loop has had."""

    async def __aenter__(self):
        self.turns = 0
        self.task = asyncio.ensure_future(self.tick())
        return self

    async def tick(self):
        while True:
            await asyncio.sleep(0)
            self.turns += 1

    async def __aexit__(self, *raised):
        self.task.cancel()


async def keys(count):
    for i in range(count):
        yield i


# A slice has at most 65,536 keys: the loop has a turn after each.
@pytest.mark.parametrize("home", ["memory", "file", "URL"])
def test_turns_during_a_large_batch(home, tmp_path, redis_server):
    count = 200_000 if home != "URL" else 70_000
    where = {"memory": None, "file": tmp_path / "x", "URL": redis_server.url("large")}[home]

    async def main():
        async with (
            await BloomFilter.create(n=MILLION, p=0.01, storage=where) as bf,
            Ticking() as loop,
        ):
            for call in (
                bf.update(range(count)),
                bf.update(keys(count)),
                bf.contains_many(range(count)),
                bf.rebuild(keys(count)),
            ):
                loop.turns = 0
                await call
                assert loop.turns >= count >> 16

    asyncio.run(main())


class Watched:
    """A filter that notes in which thread each method ran: True is the event loop's."""

    def __init__(self, inner):
        self.inner = inner
        self.here = []

    def __getattr__(self, name):
        def method(*args):
            self.here.append(threading.current_thread() is threading.main_thread())
            return getattr(self.inner, name)(*args)

        return method


def test_what_cannot_be_cut_into_slices_runs_in_a_thread(tmp_path):
    async def main():
        bf = await BloomFilter.create(n=20 * MILLION, p=0.001, storage=tmp_path / "x")
        bf._filter = watched = Watched(bf._filter)
        for call in (bf.sync(), bf.info(), bf.save(tmp_path / "y"), bf.to_bytes(), bf.clear()):
            await call
        await bf.close()
        assert watched.here == [False] * 6
        async with await BloomFilter.open(tmp_path / "y") as bf:
            assert bf.n == 20 * MILLION

    asyncio.run(main())


def test_a_key_that_may_have_to_wait_moves_to_a_thread(tmp_path):
    """The first write of a handle takes a lock and marks the file."""

    async def main():
        await (await CountingBloomFilter.create(n=1000, p=0.01, storage=tmp_path / "x")).close()
        async with await CountingBloomFilter.open(tmp_path / "x") as bf:
            for call, key, here in (
                (bf.exists, "a", [True]),
                (bf.add, "a", [True, False]),
                (bf.add, "b", [True]),
                (bf.remove, "a", [True]),
            ):
                sync = bf._filter
                bf._filter = Watched(sync)
                assert await call(key) is (call != bf.exists)
                assert bf._filter.here == here
                bf._filter = sync

    asyncio.run(main())


def test_large_keys_leave_the_loop():
    large = [b"x" * (1 << 20), bytearray(1 << 20), memoryview(bytes(1 << 21))]

    async def main():
        async with await BloomFilter.create(n=1000, p=0.01) as bf, Ticking() as loop:
            for key in large:
                loop.turns = 0
                assert not await bf.exists(key) and await bf.add(key) and await bf.exists(key)
                assert loop.turns >= 3
            assert await asyncio.gather(*map(bf.add, large)) == [False] * 3

    asyncio.run(main())


def test_without_an_event_loop():
    made = BloomFilter.create(n=10, p=0.1)
    with pytest.raises(RuntimeError, match="no running"):
        made.send(None)


def test_a_close_waits_for_the_calls_before_it(redis_server):
    async def main():
        async with redis.asyncio.Redis(port=redis_server.port) as client:
            for where in ({}, {"storage": redis_server.url("a")}, {"storage": client, "key": "b"}):
                bf = await BloomFilter.create(n=1000, p=0.01, **where)
                calls = [bf.add("x"), bf.update(range(10)), bf.close(), bf.add("y"), bf.info()]
                answers = await asyncio.gather(*calls, return_exceptions=True)
                assert answers[0] is True and answers[1:3] == [10, None]
                for late in answers[3:]:
                    assert isinstance(late, (ValueError, bool)), late
                with pytest.raises(ValueError, match="the filter is closed"):
                    await bf.add("z")

    asyncio.run(main())


def test_without_greenlet(run_python):
    code = """
import sys, asyncio
sys.modules["greenlet"] = None
import redis.asyncio
from bloomfilter.asyncio import BloomFilter
async def main():
    async with await BloomFilter.create(n=10, p=0.1) as bf:
        assert await bf.add("x")
    try:
        await BloomFilter.create(n=10, p=0.1, storage=redis.asyncio.Redis(), key="x")
    except ImportError as error:
        print(error)
asyncio.run(main())
"""
    assert run_python(code) == (
        "a client of redis.asyncio needs the package greenlet: pip install bloomfilter-shared[asyncio]"
    )


def test_busy_has_an_errno(tmp_path):
    """By which a call that must move to a thread is known."""
    bloomfilter.BloomFilter(n=100, p=0.1, storage=tmp_path / "x").close()
    with bloomfilter.BloomFilter.open(tmp_path / "x") as bf:
        _bloomfilter._set_nowait(True)
        try:
            with pytest.raises(Error, match="does not wait") as busy:
                bf.add("x")
        finally:
            _bloomfilter._set_nowait(False)
        assert busy.value.errno == errno.EBUSY
        assert bf.add("x")


# ---- the limit of a wait ----
@pytest.mark.parametrize("home", ["client", "URL", "file"])
def test_a_wait_for_the_filter_has_a_limit(home, tmp_path, redis_server, monkeypatch):
    """Other tasks wait for a rebuild whose keys do not come."""
    redis_server("FLUSHALL")
    logged = []

    async def main():
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda loop, context: logged.append(context["message"]))
        client = redis.asyncio.Redis(port=redis_server.port)
        where = {
            "client": {"storage": client, "key": "seen"},
            "URL": {"storage": redis_server.url("seen")},
            "file": {"storage": tmp_path / "x"},
        }[home]
        bf = await CountingBloomFilter.create(n=1000, p=0.01, **where)
        reads, goes_on = asyncio.Event(), asyncio.Event()

        async def rows():
            yield "first"
            reads.set()
            await goes_on.wait()
            yield "last"

        rebuild = asyncio.ensure_future(bf.rebuild(rows()))
        await reads.wait()
        monkeypatch.setattr(_redis, "LOCK_PATIENCE", 0)
        large = "x" * LARGE  # a file's filter adds a small key without a task
        calls = [
            *(bf.add(large), bf.exists(large), bf.remove(large), bf.update(["y"])),
            *(bf.add_many(["y"]), bf.info(), bf.save(tmp_path / "y"), bf.close()),
        ]
        for error in await asyncio.gather(*calls, return_exceptions=True):
            assert isinstance(error, Error), error
            assert error.errno is None
            assert "is in use: another task has worked with it for 0 seconds" in str(error)
        monkeypatch.undo()
        goes_on.set()
        assert await rebuild == 2
        assert await bf.contains_many(["first", "last", "y", large]) == b"\1\1\0\0"
        assert await bf.add(large) and await bf.exists(large)
        await bf.close()
        await client.aclose()

    asyncio.run(main())
    assert logged == []


def test_a_wait_for_the_only_connection_has_a_limit(redis_server, monkeypatch):
    redis_server("FLUSHALL")

    async def main():
        async with redis.asyncio.Redis(
            port=redis_server.port, single_connection_client=True
        ) as client:
            bf = await BloomFilter.create(n=1000, p=0.01, storage=client, key="seen")
            async with client._single_conn_lock:
                monkeypatch.setattr(_redis, "LOCK_PATIENCE", 0)
                for call in bf.add("x"), bf.exists("x"), bf.info():
                    with pytest.raises(Error, match="only connection"):
                        await call
                monkeypatch.undo()
                late = asyncio.ensure_future(bf.add("x"))
                await asyncio.sleep(0)
            assert await late and await bf.exists("x")
            await bf.close()

    asyncio.run(main())
