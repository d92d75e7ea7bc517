"""bloomfilter.asyncio in every home: the answers, bits and exceptions of the synchronous class."""

import array
import asyncio
import contextlib

import pytest

redis = pytest.importorskip("redis")
pytest.importorskip("redis.asyncio")
pytest.importorskip("greenlet")

import bloomfilter  # noqa: E402
from bloomfilter.asyncio import BloomFilter, CountingBloomFilter, Error  # noqa: E402


CLIENTS = {
    "redis-py": lambda port, _: redis.Redis(port=port),
    "redis.asyncio": lambda port, _: redis.asyncio.Redis(port=port),
    "one connection": lambda port, _: redis.asyncio.Redis(port=port, single_connection_client=True),
    "unix socket": lambda _, socket: redis.asyncio.Redis(unix_socket_path=socket),
    "RESP2, no time-out": lambda port, _: redis.asyncio.Redis(
        port=port, protocol=2, socket_timeout=None
    ),
    "cluster": lambda port, _: redis.asyncio.RedisCluster(host="127.0.0.1", port=port),
    "redis-py's cluster": lambda port, _: redis.RedisCluster(host="127.0.0.1", port=port),
}
HOMES = ["memory", "file", "URL", "unix URL", *CLIENTS]


@contextlib.asynccontextmanager
async def place(home, request):
    """What leads to a filter in this home, as arguments of create() and open()."""
    if home == "memory":
        yield {}
    elif home == "file":
        yield {"storage": request.getfixturevalue("tmp_path") / "seen.bloom"}
    else:
        server = request.getfixturevalue("redis_server")
        server("FLUSHALL")
        port, socket = server.port, str(server.folder / "socket")
        if "URL" in home:
            yield {"storage": server.url("seen") if home == "URL" else f"unix://{socket}?key=seen"}
            return
        if "cluster" in home:
            port = request.getfixturevalue("cluster_of_masters").servers[0].port
        client = CLIENTS[home](port, socket)
        yield {"storage": client, "key": "seen"}
        if "redis-py" in home:
            client.flushall()
            client.close()
        else:
            await client.flushall()
            await client.aclose()


async def same_as_memory(kind, where, spec):
    memory = getattr(bloomfilter, kind.__name__)(**spec)
    keys = [f"k{i}" for i in range(3000)]
    async with await kind.create(**spec, **where) as bf:
        assert (bf.m, bf.n, bf.k, bf.p) == (memory.m, memory.n, memory.k, memory.p)
        assert bf.scheme == memory.scheme and bf.created and bf.storage == where.get("storage")
        for name in ("shards", "grow", "window", "parts"):
            assert getattr(bf, name) == getattr(memory, name)
        assert await bf.add_many(keys[:2000]) == memory.add_many(keys[:2000])
        assert await bf.contains_many(iter(keys)) == memory.contains_many(keys)
        assert await bf.update(keys[1990:2010]) == memory.update(keys[1990:2010])
        assert bytes(await bf.add_mask(keys[1980:2020])) == memory.add_many(keys[1980:2020])
        assert bytes(await bf.contains_mask(iter(keys))) == memory.contains_many(keys)
        for key in ("x", b"\0\xff", 42, "x", b"42", bytearray(b"x"), "ü"):
            assert await bf.add(key) is memory.add(key)
        for key in ("x", "y", 42, b"never"):
            assert await bf.exists(key) is (await bf.contains(key)) is (key in memory)
        concurrent = await asyncio.gather(*(bf.add(key) for key in keys[2000:2500] * 2))
        assert bytes(concurrent) == memory.add_many(keys[2000:2500] * 2)
        if kind is CountingBloomFilter:
            assert await bf.remove("k1") is memory.remove("k1")
            assert await bf.count_of("x") == memory.count_of("x")
            assert await bf.remove_many(keys[9:30]) == memory.remove_many(keys[9:30])
            assert await bf.count_many(keys) == memory.count_many(keys)
            some = await asyncio.gather(*(bf.count_of(key) for key in keys[:50]))
            assert some == list(memory.count_many(keys[:50]))
        if "window" not in spec:
            assert memory.from_bytes(await bf.to_bytes()) == memory
            assert memory.from_base64(await bf.to_base64()) == memory
        if where:
            clock = {name: spec[name] for name in ("clock",) if name in spec}
            async with await kind.open(**where, **clock) as again:
                assert not again.created and await again.contains_many(
                    keys
                ) == memory.contains_many(keys)
        if not spec.keys() & {"grow", "window"}:
            assert await bf.rebuild(keys[:20]) == 20 and not await bf.exists("x")
        await bf.clear()
        assert not await bf.exists("k3") and (await bf.info())["count"] == 0
        await bf.sync()
    await bf.close()
    for call in (bf.add("x"), bf.exists("x"), bf.update([1]), bf.clear(), bf.info()):
        with pytest.raises(ValueError, match="the filter is closed"):
            await call


KINDS = {
    "fixed": (BloomFilter, {"n": 5000}),
    "grows": (BloomFilter, {"n": 200, "grow": 2.0}),
    "forgets": (BloomFilter, {"n": 3000, "window": 3600.0, "parts": 4, "clock": lambda: 1e6}),
    "counts": (CountingBloomFilter, {"n": 5000}),
    "counts and grows": (CountingBloomFilter, {"n": 200, "grow": 2.0}),
}


@pytest.mark.parametrize("home", HOMES)
@pytest.mark.parametrize("kind", KINDS)
def test_as_in_memory(home, kind, request):
    async def main():
        async with place(home, request) as where:
            await same_as_memory(KINDS[kind][0], where, {"p": 0.001, **KINDS[kind][1]})

    asyncio.run(main())


@pytest.mark.parametrize("home", HOMES)
@pytest.mark.parametrize("more", [{"n": 3000}, {"n": 300, "grow": 2.0}])
def test_hashes_as_in_memory(home, more, request):
    async def main():
        hashes = array.array("Q", (i * 0x9E3779B97F4A7C15 % 2**64 for i in range(1, 2001)))
        spec = {"p": 0.001, "scheme": "hashes64", **more}
        memory = bloomfilter.BloomFilter(**spec)
        async with (
            place(home, request) as where,
            await BloomFilter.create(**spec, **where) as bf,
        ):
            for some in (hashes[:700], hashes[600:800], hashes[:0]):
                for name in ("contains_hashes", "add_hashes", "contains_hashes"):
                    with_mask = await getattr(bf, name + "_mask")(some)
                    assert bytes(with_mask) == bytes(getattr(memory, name + "_mask")(some))
                    assert await getattr(bf, name)(some) == getattr(memory, name)(some)
            assert await bf.add_hashes(hashes, threads=2) == memory.add_hashes(hashes)
            assert memory.from_bytes(await bf.to_bytes()) == memory
            for wrong in (bf.add("k"), bf.add_mask(["k"]), bf.contains_many(["k"])):
                with pytest.raises(ValueError):
                    await wrong

    asyncio.run(main())


async def numbers(count):
    for i in range(count):
        yield i


async def stops_at(number, error):
    for i in range(number):
        yield i
    raise error


@pytest.mark.parametrize("home", ["memory", "file", "URL", "redis-py", "redis.asyncio", "cluster"])
def test_batches_of_every_kind_of_iterable(home, request):
    async def main():
        async with (
            place(home, request) as where,
            await BloomFilter.create(n=20000, p=0.001, **where) as bf,
        ):
            assert await bf.update(numbers(0)) == await bf.update([]) == 0
            assert await bf.add_many(()) == await bf.contains_many(numbers(0)) == b""
            memory = bloomfilter.BloomFilter(n=20000, p=0.001)
            assert await bf.update(numbers(2500)) == memory.update(range(2500))
            assert await bf.add_many(numbers(2600)) == memory.add_many(range(2600))
            assert (
                await bf.update({"a", "b"}) == 2
                and await bf.contains_many(b for b in "abc") == b"\1\1\0"
            )
            assert await bf.update([None, 5], nulls="skip") == 0
            other = bloomfilter.BloomFilter(n=20000, p=0.001)
            other.add("of another filter")
            assert await bf.update(other) == 1 and await bf.exists("of another filter")
            for one_key in ("text", b"bytes", bytearray(b"x")):
                with pytest.raises(TypeError, match="iterable of keys, not one"):
                    await bf.update(one_key)
            for wrong in (5, None, bf):
                with pytest.raises(TypeError, match="not iterable"):
                    await bf.add_many(wrong)
            for wrong in ({"nulls": "what"}, {"threads": -1}):
                with pytest.raises(ValueError, match=f"{[*wrong][0]} must be"):
                    await bf.update([], **wrong)
            for at in (0, 3, 2999):
                keys = [f"w{i}" for i in range(at)] + [1.5, "after"]
                for many in (keys, iter(keys)):
                    with pytest.raises(
                        TypeError, match=f"^key {at}: a key must be .* not float"
                    ) as bad:
                        await bf.update(many)
                    assert bad.value.index == at
                assert await bf.contains_many(keys[:at]) == b"\1" * at
                assert not await bf.exists("after")
            with pytest.raises(OSError, match="torn"):
                await bf.update(stops_at(3100, OSError("torn")))
            assert await bf.contains_many(range(3100)) == b"\1" * 3100
            with pytest.raises(OSError, match="torn"):
                await bf.rebuild(stops_at(3100, OSError("torn")))
            assert await bf.exists("a")
            assert await bf.rebuild(numbers(2500)) > 2480 and not await bf.exists("a")
            assert await bf.contains_many(range(2500)) == b"\1" * 2500

    asyncio.run(main())


def test_columns(tmp_path):
    numpy = pytest.importorskip("numpy")

    async def main():
        async with await BloomFilter.create(n=20000, p=0.001, storage=tmp_path / "x") as bf:
            memory = bloomfilter.BloomFilter(n=20000, p=0.001)
            for first, name in enumerate(["update", "add_many", "contains_many", "add_mask"]):
                keys = numpy.arange(2000 * first, 2000 * first + 18000)
                said = await getattr(bf, name)(keys, threads=2)
                assert numpy.array_equal(said, getattr(memory, name)(keys))
            assert memory.from_bytes(await bf.to_bytes()) == memory
            with pytest.raises(TypeError, match="null"):
                await bf.update(numpy.array(["a", None], dtype=object))
            assert not await bf.exists("a")

    asyncio.run(main())


def refusals(where):
    fakeredis = pytest.importorskip("fakeredis")
    return [
        (lambda: BloomFilter(n=10, p=0.1), TypeError, "await BloomFilter.create"),
        (lambda: BloomFilter.create(n=10, p=2), ValueError, "p must be"),
        (lambda: BloomFilter.create(n=10, q=2), TypeError, "q"),
        (lambda: BloomFilter.open("/no/such/file"), FileNotFoundError, "/no/such/file"),
        (lambda: BloomFilter.open(**where, n=7), Error, "n=7|n is|n="),
        (lambda: CountingBloomFilter.open(**where), Error, "counting|Counting"),
        (lambda: BloomFilter.open(where["storage"], key="none"), Error, "none"),
        (
            lambda: BloomFilter.open(where["storage"].pipeline(), key="x"),
            TypeError,
            "pipeline|Pipeline",
        ),
        (lambda: BloomFilter.open(redis.asyncio.Redis, key="x"), TypeError, "storage must be"),
        (lambda: BloomFilter.open(fakeredis.FakeAsyncRedis(), key="x"), TypeError, "in unit tests"),
        (lambda: bloomfilter.BloomFilter.open(where["storage"]), TypeError, "bloomfilter.asyncio"),
    ]


def test_what_cannot_be_is_refused(request):
    async def main():
        async with place("redis.asyncio", request) as where:
            await (await BloomFilter.create(n=10, p=0.1, **where)).close()
            for make, kind, words in refusals(where):
                with pytest.raises(kind, match=words):
                    await make()
        async with await BloomFilter.create(n=10, p=0.1) as bf:
            with pytest.raises(TypeError, match=r"await bf\.exists"):
                "x" in bf  # noqa: B015
            with pytest.raises(Error, match="Redis|memory"):
                await bf.expire(5)
            with pytest.raises(TypeError):
                len(bf)

    asyncio.run(main())
