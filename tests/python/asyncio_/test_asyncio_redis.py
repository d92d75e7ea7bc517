"""A client of redis.asyncio: what is sent, in how many round trips; faults; cancellation."""

import asyncio
import contextvars
import gc
import re
import signal
import threading

import pytest

pytest.importorskip("greenlet")
from redis_clients import NoBackoff, Retry, odd_replies, patience, redis  # noqa: E402
from redis_tls import tls_server  # noqa: E402
from servers import Proxy  # noqa: E402

import bloomfilter  # noqa: E402
from bloomfilter import _redis_asyncio  # noqa: E402
from bloomfilter.asyncio import BloomFilter, CountingBloomFilter, Error, FullError  # noqa: E402

FAULTS = (Error, OSError)
SPEC = {"n": 100_000, "p": 1e-6}


@pytest.fixture
def server(redis_server):
    redis_server("FLUSHALL")
    return redis_server


def plain(port, **options):
    """No retries of redis-py's own: a fault is there at once."""
    return redis.asyncio.Redis(port=port, retry=Retry(NoBackoff(), 0), **options)


def with_filter(server, test, kind=BloomFilter, spec=SPEC, client=plain, **options):
    """Runs test(filter, client)."""

    async def main():
        async with client(server.port, **options) as c:
            async with await kind.create(**spec, storage=c, key="seen") as bf:
                await test(bf, c)
            pool = c.connection_pool
            assert not pool._in_use_connections or c.connection

    asyncio.run(main())


@pytest.fixture
def trips(monkeypatch):
    """One entry for each round trip: how many commands it had."""
    made = []
    exchange = _redis_asyncio.AwaitedSingle.exchange

    def counted(self, parts, replies):
        made.append(sum(part[3] for part in parts))
        exchange(self, parts, replies)

    monkeypatch.setattr(_redis_asyncio.AwaitedSingle, "exchange", counted)
    return made


def commands(server):
    stats = server("INFO commandstats")
    return {
        name: int(calls) for name, calls in re.findall(r"cmdstat_([a-z|_]+):calls=(\d+)", stats)
    }


def sent_since(before, server):
    now = commands(server)
    return {
        name: now[name] - before.get(name, 0)
        for name in ("eval", "bitfield", "setbit", "getrange", "bitfield_ro")
        if name in now
    }


# ---- what is sent ----
def test_a_tick_is_one_round_trip(server, trips):
    async def test(bf, client):
        del trips[:]
        before = commands(server)
        new = await asyncio.gather(*(bf.add(f"k{i}") for i in range(1000)))
        assert all(new) and len(trips) == 1
        adds = sent_since(before, server)
        assert await asyncio.gather(*(bf.exists(f"k{i}") for i in range(0, 2000, 2))) == (
            [True] * 500 + [False] * 500
        )
        mixed = await asyncio.gather(
            *((bf.add if i % 2 else bf.exists)(f"m{i}") for i in range(1000))
        )
        assert mixed == [bool(i % 2) for i in range(1000)] and len(trips) <= 5
        alone = bloomfilter.BloomFilter.open(redis.Redis(port=server.port), key="seen")
        before = commands(server)
        alone.add_many([f"k{i}" for i in range(1000)])
        assert adds == sent_since(before, server)

    with_filter(server, test)


def test_many_more_than_a_batch(server, trips):
    async def test(bf, client):
        for call in (bf.add, bf.exists, bf.add, bf.contains):
            del trips[:]
            await call("x")
            assert len(trips) == 1
        del trips[:]
        assert sum(await asyncio.gather(*(bf.add(i) for i in range(10_500)))) == 10_500
        assert len(trips) == 11

    with_filter(server, test)


def test_a_wrong_key_fails_alone(server, trips):
    wrong = [None, 1.5, True, "\ud800", [1]]

    async def test(bf, client):
        del trips[:]
        keys = ["a", *wrong, "b", 3]
        answers = await asyncio.gather(*map(bf.add, keys), return_exceptions=True)
        assert [a for a in answers if a is True] == [True] * 3 and len(trips) == 1
        assert [type(a) for a in answers[1:6]] == [TypeError] * 3 + [ValueError, TypeError]
        for key in wrong:
            with pytest.raises((TypeError, ValueError)):
                await bf.exists(key)

    with_filter(server, test)


def test_a_key_that_the_scheme_refuses_fails_alone(server):
    async def test(bf, client):
        answers = await asyncio.gather(*map(bf.add, ["a", b"\xff", "b"]), return_exceptions=True)
        assert answers[0] is answers[2] is True and isinstance(answers[1], ValueError)

    with_filter(server, test, spec={"n": 1000, "p": 0.01, "scheme": "guava:chars"})


# ---- faults ----
def test_a_server_that_does_not_answer(server):
    async def test(bf, client):
        await bf.add("x")
        server.process.send_signal(signal.SIGSTOP)
        patience(client.connection_pool, 0.05)
        try:
            for call in (bf.add("a"), bf.exists("x"), bf.update(["b"])):
                with pytest.raises(TimeoutError):
                    await call
        finally:
            patience(client.connection_pool)
            server.process.send_signal(signal.SIGCONT)
        assert await bf.exists("x") and await bf.add("c")

    with_filter(server, test)


def test_a_connection_that_the_server_closed(server):
    async def test(bf, client):
        for call in (bf.add, bf.exists, bf.add):
            server("CLIENT KILL TYPE normal")
            await call("x")

    with_filter(server, test)


def test_its_only_connection_is_shared_with_commands(server):
    async def test(bf, client):
        answers = await asyncio.gather(
            *(one for i in range(100) for one in (bf.add(i), client.echo(str(i))))
        )
        assert answers == [one for i in range(100) for one in (True, str(i).encode())]

    with_filter(server, test, single_connection_client=True)


def test_a_pool_of_one_connection(server):
    async def main():
        pool = redis.asyncio.BlockingConnectionPool(port=server.port, max_connections=1)
        async with redis.asyncio.Redis.from_pool(pool) as client:
            filters = [
                await BloomFilter.create(**SPEC, storage=client, key=f"{{k}}{i}") for i in range(4)
            ]
            answers = await asyncio.gather(
                *(one for i in range(50) for f in filters for one in (f.add(i), client.ping()))
            )
            assert all(answers)
            for f in filters:
                await f.close()

    asyncio.run(main())


def test_tls(tmp_path):
    async def main(port):
        secure = {"ssl": True, "ssl_ca_certs": str(tmp_path / "ca.pem")}
        async with plain(port, host="127.0.0.1", **secure) as client:
            async with await BloomFilter.create(**SPEC, storage=client, key="seen") as bf:
                assert all(await asyncio.gather(*(bf.add(i) for i in range(2000))))
                assert await bf.contains_many(range(3000)) == b"\1" * 2000 + b"\0" * 1000

    with tls_server(tmp_path, "--tls-auth-clients", "no") as port:
        asyncio.run(main(port))


def test_context_variables_of_a_connection(server):
    """What a connection sets and resets around an await, as tracers do."""
    span = contextvars.ContextVar("span", default=None)
    seen = []

    class Traced(redis.asyncio.Connection):
        async def connect(self):
            token = span.set("connecting")
            await asyncio.sleep(0)
            await super().connect()
            span.reset(token)
            seen.append(span.get())

    async def main():
        span.set("mine")
        pool = redis.asyncio.ConnectionPool(port=server.port, connection_class=Traced)
        async with redis.asyncio.Redis.from_pool(pool) as client:
            async with await BloomFilter.create(**SPEC, storage=client, key="seen") as bf:
                assert await bf.add("x") and await bf.update(["y"]) == 1
        assert set(seen) == {"mine"}

    asyncio.run(main())


# ---- cancellation ----
def calls_of(bf):
    return {
        "add": lambda i: bf.add(f"add{i}"),
        "exists": lambda i: bf.exists("there"),
        "update": lambda i: bf.update(f"update{j}" for j in range(1500)),
        "add_many": lambda i: bf.add_many([f"many{j}" for j in range(1500)]),
        "contains_many": lambda i: bf.contains_many(range(1500)),
        "info": lambda i: bf.info(),
        "expire": lambda i: bf.expire(1000),
        "sync": lambda i: bf.sync(),
    }


@pytest.mark.parametrize(
    "name, single", [*((name, False) for name in calls_of(None)), ("add", True), ("update", True)]
)
def test_cancelled_after_any_turn_of_the_loop(server, name, single):
    async def test(bf, client):
        assert await bf.add("there")
        call = calls_of(bf)[name]
        neighbours, cancelled = [], 0
        for turns in (*range(25), *range(25, 300, 9)):
            task = asyncio.ensure_future(call(turns))
            neighbour = asyncio.ensure_future(bf.add(f"neighbour{turns}"))
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
            cancelled += task.cancelled()
            assert await neighbour is True
            neighbours.append(f"neighbour{turns}")
            assert await bf.exists("there") and await client.echo("hello") == b"hello"
            assert await asyncio.gather(bf.exists("never"), bf.add("there")) == [False, False]
            if not task.cancelled():  # it was done before
                break
        assert cancelled > 3
        assert await bf.contains_many(neighbours) == b"\1" * len(neighbours)

    with_filter(server, test, single_connection_client=single)


@pytest.mark.parametrize("home", ["client", "URL"])
@pytest.mark.parametrize("name", ["add", "update", "info"])
def test_a_cancelled_call_that_fails_logs_nothing(server, home, name):
    proxy, logged = Proxy(server.port), []
    arrived, cut = threading.Event(), threading.Event()

    def hang_up(request, answer):
        arrived.set()
        cut.wait(60)

    async def main():
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda loop, context: logged.append(context["message"]))
        async with plain(proxy.port) as client:
            where = {"storage": f"redis://127.0.0.1:{proxy.port}/0?key=seen&timeout=60"}
            if home == "client":
                where = {"storage": client, "key": "seen"}
            async with await BloomFilter.create(**SPEC, **where) as bf:
                proxy.spoil = hang_up
                task = asyncio.ensure_future(calls_of(bf)[name](0))
                while not arrived.is_set():
                    await asyncio.sleep(0.001)
                task.cancel()
                await asyncio.wait([task])
                cut.set()
                proxy.spoil = None
                assert task.cancelled() and await bf.add("later")
        gc.collect()
        await asyncio.sleep(0)

    asyncio.run(main())
    assert logged == []


def test_a_cancelled_call_that_waits_is_not_made(server, trips):
    async def test(bf, client):
        running = asyncio.ensure_future(bf.info())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        waiting = [
            asyncio.ensure_future(call) for call in (bf.clear(), bf.add("x"), bf.update(["y"]))
        ]
        await asyncio.sleep(0)
        for task in waiting:
            task.cancel()
        await running
        await asyncio.gather(*waiting, return_exceptions=True)
        assert await bf.contains_many(["there", "x", "y"]) == b"\1\0\0"

    async def filled(bf, client):
        await bf.add("there")
        await test(bf, client)

    with_filter(server, filled)


def test_a_cancelled_rebuild_changes_nothing(server, tmp_path):
    async def one(bf):
        await bf.add("old")
        reading = asyncio.Event()

        async def keys():
            for i in range(5000):
                yield i
            reading.set()
            await asyncio.sleep(3600)

        task = asyncio.ensure_future(bf.rebuild(keys()))
        await reading.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await bf.close()

    async def main():
        async with plain(server.port) as client:
            for where in (
                {"storage": client, "key": "seen"},
                {"storage": server.url("url")},
                {"storage": tmp_path / "file"},
            ):
                await one(await BloomFilter.create(**SPEC, **where))
                async with await BloomFilter.open(**where) as bf:
                    assert await bf.exists("old") and not await bf.exists(77)

    asyncio.run(main())


@pytest.mark.parametrize("home", ["memory", "client"])
def test_a_rebuild_does_not_wait_for_itself(server, home):
    async def main():
        async with plain(server.port) as client:
            where = {"storage": client, "key": "seen"} if home == "client" else {}
            async with await BloomFilter.create(**SPEC, **where) as bf:
                await bf.add("old")
                for call in (bf.exists, bf.update, bf.add_many, lambda key: bf.info()):
                    if home == "client" or call in (bf.update, bf.add_many):
                        await one(bf, call)

    async def one(bf, call):
        reading = asyncio.Event()

        async def keys():
            reading.set()
            await asyncio.sleep(0)
            yield await call("old")

        rebuild = asyncio.ensure_future(bf.rebuild(keys()))
        await reading.wait()
        waits = asyncio.ensure_future(bf.exists("old"))
        with pytest.raises(Error, match="the rebuild that reads these keys"):
            await asyncio.wait_for(rebuild, 60)
        assert await waits and await bf.exists("old")

    asyncio.run(main())


def test_the_loop_ends_in_the_middle(server, run_python):
    code = f"""
import asyncio, gc, redis.asyncio
from bloomfilter.asyncio import BloomFilter
async def main(turns, how):
    client = redis.asyncio.Redis(port={server.port})
    bf = await BloomFilter.create(n=1000, p=0.01, storage=client, key="seen")
    url = await BloomFilter.create(n=1000, p=0.01, storage="{server.url("url")}")
    calls = bf.add("x"), bf.update(range(5000)), url.rebuild(range(5000)), url.add("x")
    task = asyncio.ensure_future(asyncio.gather(*calls))
    for _ in range(turns):
        await asyncio.sleep(0)
for turns in range(12):
    try:
        asyncio.run(main(turns, "cancelled"))
    except asyncio.CancelledError:
        pass
    loop = asyncio.new_event_loop()
    loop.run_until_complete(main(turns, "dropped"))
    loop.close()
    del loop
    gc.collect()
print("done")
"""
    assert run_python(code) == "done"


# ---- clusters ----
def with_cluster(cluster, test, kind=BloomFilter, **more):
    async def main():
        port = cluster.servers[0].port
        async with redis.asyncio.RedisCluster(host="127.0.0.1", port=port) as client:
            where = {"storage": client, "key": "{m}oves"}
            async with await kind.create(n=10_000, p=1e-6, **more, **where) as bf:
                await test(bf)
            await client.flushall()

    asyncio.run(main())


def test_shards_of_a_cluster(cluster_of_masters):
    async def test(bf):
        assert all(await asyncio.gather(*(bf.add(i) for i in range(1000))))
        assert all(await asyncio.gather(*(bf.remove(i) for i in range(1000))))
        assert await bf.contains_many(range(1000)) == b"\0" * 1000

    with_cluster(cluster_of_masters, test, CountingBloomFilter, shards=5)


def test_a_slot_that_moves(cluster_of_masters):
    cluster = cluster_of_masters

    async def test(bf):
        await bf.add("before")
        source = cluster.master_of("{m}oves")
        target = next(s for s in cluster.masters() if s is not source)
        source, slot = cluster.begin_move("{m}oves", target)
        assert await bf.add("begun") and await bf.exists("before")
        for key in ("{m}oves", "{m}oves:meta"):
            cluster.move_key(source, target, key)
        assert await bf.add("asked") and await bf.exists("before")
        cluster.end_move(source, target, slot)
        assert await asyncio.gather(*(bf.add(i) for i in range(10))) == [True] * 10
        assert await bf.contains_many(["before", "begun", "asked", 7]) == b"\1" * 4

    with_cluster(cluster, test)


def test_connections_of_a_cluster_that_were_closed(cluster_of_masters):
    async def test(bf):
        for i in range(3):
            for server in cluster_of_masters.servers:
                server("CLIENT KILL TYPE normal")
            assert await bf.add(i)

    with_cluster(cluster_of_masters, test)


def test_a_full_filter_answers_each_caller(server):
    """Adds of one tick are one batch; the check refuses new keys only."""
    old, new = [f"old{i}" for i in range(300)], [f"new{i}" for i in range(2000)]

    async def test(bf, client):
        await bf.update(old)
        keys = [key for pair in zip(new, old * 7) for key in pair]
        got = await asyncio.gather(*map(bf.add, keys), return_exceptions=True)
        refused = [one for one in got if not isinstance(one, bool)]
        assert not any(got[1::2]), "the old keys are present"
        news = got[::2]
        first = news.index(refused[0])
        assert 500 < first < len(new) and not any(one is True for one in news[first:])
        assert all(type(one) is FullError and not hasattr(one, "index") for one in refused)
        assert len(set(map(id, refused))) == len(refused)
        assert sum(news[:first]) > 0.98 * first
        assert all(await bf.contains_many(old + new[:first]))
        assert sum(await bf.contains_many(new[first:])) < 250

    with_filter(server, test, spec={"n": 1000, "p": 0.001, "overfull": "raise"})


@pytest.mark.parametrize("one", [True, False])
def test_a_refused_reply_closes_the_connection(server, monkeypatch, one):
    async def test(bf, client):
        await bf.add("x")
        with monkeypatch.context() as patch:
            patch.setattr(
                _redis_asyncio.AwaitedLoan,
                "receive",
                staticmethod(odd_replies),
            )
            with pytest.raises(Error, match="out of step"):
                await bf.add("x")
        pool = client.connection_pool
        used = [client.connection] if one else pool._available_connections
        assert used and not any(connection.is_connected for connection in used)
        assert list(await bf.contains_many(["x", "never"])) == [True, False]

    with_filter(server, test, single_connection_client=one)


@pytest.mark.parametrize("home", ["memory", "client"])
def test_a_buffer_that_is_used_again(server, home):
    """A reader may give the same bytearray for every key, as readinto() loops do."""
    keys = [b"key%05d" % i for i in range(3000)]

    def rows():
        buffer = bytearray(8)
        for key in keys:
            buffer[:] = key
            yield buffer

    async def rows_later():
        for key in rows():
            yield key

    async def main():
        async with plain(server.port) as client:
            where = {"storage": client, "key": "reused"} if home == "client" else {}
            async with await BloomFilter.create(**SPEC, **where) as bf:
                for read in (rows, rows_later):
                    await bf.update(read())
                    assert await bf.contains_many(keys) == b"\1" * len(keys)
                    await bf.clear()
                await bf.rebuild(rows())
                assert await bf.contains_many(keys) == b"\1" * len(keys)
                buffer = bytearray(b"original")
                task = asyncio.create_task(bf.add(buffer))
                await asyncio.sleep(0)
                buffer[:] = b"the next"
                assert await task and await bf.exists(b"original")

    asyncio.run(main())


def test_everything_is_cancelled_before_it_begins(server):
    async def main():
        async with plain(server.port) as client:
            bf = await BloomFilter.create(**SPEC, storage=client, key="cancelled")
            task = asyncio.create_task(bf.add("a"))
            await asyncio.sleep(0)  # the task that sends the key has not begun
            for other in asyncio.all_tasks() - {asyncio.current_task()}:
                other.cancel()
            await asyncio.wait([task])
            assert task.cancelled()
            assert await asyncio.wait_for(bf.add("b"), 60)
            assert not await asyncio.wait_for(bf.exists("a"), 60)
            await bf.close()
            with pytest.raises(ValueError, match="closed"):
                await asyncio.wait_for(bf.add("c"), 60)

    asyncio.run(main())
