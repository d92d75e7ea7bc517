#!/usr/bin/env python3
"""bench_asyncio - what a filter costs under an event loop.  bench_asyncio.py [ROUNDS]

A redis-server of its own on loopback.  Calls of one kind take turns with the others in rounds of 200;
shown is the fastest round, and its ratio to an awaited PING of the same client.  Then round trips of
1,000 concurrent adds, and the longest time that a task which only yields had to wait while batches of
a million keys ran."""

import asyncio
import gc
import sys
import tempfile
import time
from pathlib import Path

import redis
import redis.asyncio

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "helpers"))
from servers import running

import bloomfilter
from bloomfilter import _redis_asyncio
from bloomfilter.asyncio import BloomFilter

CALLS = 200
SPEC = {"n": 1_000_000, "p": 0.01}


async def command_of(call):
    """The words of the one command that a call sends."""
    sent = []
    exchange = _redis_asyncio.AwaitedSingle.exchange

    def noted(self, parts, replies):
        sent.extend(part[1] for part in parts)
        exchange(self, parts, replies)

    _redis_asyncio.AwaitedSingle.exchange = noted
    await call
    _redis_asyncio.AwaitedSingle.exchange = exchange
    at, words = b"".join(sent), []
    while at := at.split(b"\r\n", 1)[1]:
        if at.startswith(b"$"):
            size, rest = at[1:].split(b"\r\n", 1)
            words.append(rest[: int(size)])
            at = rest[int(size) :]
    return words


async def single_calls(port, rounds):
    client = redis.asyncio.Redis(port=port)
    bf = await BloomFilter.create(**SPEC, storage=client, key="a")
    url = await BloomFilter.create(**SPEC, storage=f"redis://127.0.0.1:{port}/0?key=b")
    memory = await BloomFilter.create(**SPEC)
    script = await command_of(bf.add("x"))
    kinds = {
        "PING": lambda i: client.ping(),
        "add's command, redis-py": lambda i: client.execute_command(*script),
        "add": bf.add,
        "exists": bf.exists,
        "add, by URL": url.add,
        "exists, by URL": url.exists,
        "add, memory": memory.add,
    }
    best = dict.fromkeys(kinds, (1e9, 1e9))
    for round in range(rounds):
        for name, call in kinds.items():
            wall, cpu = time.perf_counter(), time.process_time()
            for i in range(CALLS):
                await call(round * CALLS + i)
            took = time.perf_counter() - wall, time.process_time() - cpu
            best[name] = tuple(map(min, best[name], took))
    print(f"{'':24} {'us':>7} {'/ PING':>7} {'CPU us':>7} {'/ PING':>7}")
    for name, (wall, cpu) in best.items():
        a, b = wall / CALLS * 1e6, cpu / CALLS * 1e6
        print(
            f"{name:24} {a:7.1f} {wall / best['PING'][0]:7.2f} {b:7.1f} {cpu / best['PING'][1]:7.2f}"
        )
    for f in bf, url, memory:
        await f.close()
    await client.aclose()


async def concurrent_calls(port):
    trips = 0
    exchange = _redis_asyncio.AwaitedSingle.exchange

    def counted(*args):
        nonlocal trips
        trips += 1
        exchange(*args)

    async with redis.asyncio.Redis(port=port) as client:
        async with await BloomFilter.create(**SPEC, storage=client, key="c") as bf:
            _redis_asyncio.AwaitedSingle.exchange = counted
            for start in range(3):
                trips, began = 0, time.perf_counter()
                await asyncio.gather(*(bf.add(f"{start} {i}") for i in range(1000)))
                took = time.perf_counter() - began
            _redis_asyncio.AwaitedSingle.exchange = exchange
            print(f"1,000 concurrent adds: {trips} round trips, {took * 1e3:.1f} ms")


async def stalls(port, folder):
    longest, busy = [0.0, 0.0], True

    async def tick():
        nonlocal longest
        last = time.perf_counter(), time.thread_time()
        while busy:
            await asyncio.sleep(0)
            now = time.perf_counter(), time.thread_time()
            longest = [max(a, c - b) for a, b, c in zip(longest, last, now)]
            last = now

    client = redis.asyncio.Redis(port=port)
    homes = {
        "memory": {},
        "file": {"storage": folder / "x"},
        "URL": {"storage": f"redis://127.0.0.1:{port}/0?key=d"},
        "redis.asyncio": {"storage": client, "key": "e"},
    }
    keys = [f"http://example.org/{i}" for i in range(1_000_000)]
    gc.collect()
    gc.freeze()  # the collector would look at this list, for 10 ms
    plain = {"memory": bloomfilter.BloomFilter(**SPEC), "file": None}
    plain["file"] = bloomfilter.BloomFilter(**SPEC, storage=folder / "y")
    print(
        "longest wait of a task that only yields, ms (and of it the CPU time of the loop's thread)"
    )
    print(f"{'':14} {'call':14} {'s':>6} {'synchronous':>12} {'wait':>9} {'CPU':>9}")
    for home, where in homes.items():
        async with await BloomFilter.create(**SPEC, **where) as bf:
            for name in ("update", "contains_many", "rebuild", "to_bytes", "clear"):
                given = (keys,) if name in ("update", "contains_many", "rebuild") else ()
                longest, busy = [0.0, 0.0], True
                task = asyncio.ensure_future(tick())
                began = time.perf_counter()
                await getattr(bf, name)(*given)
                took = time.perf_counter() - began
                busy = False
                await task
                alone = ""
                if home in plain:
                    began = time.perf_counter()
                    getattr(plain[home], name)(*given)
                    alone = f"{time.perf_counter() - began:.3f}"
                print(
                    f"{home:14} {name:14} {took:6.3f} {alone:>12} {longest[0] * 1e3:9.2f} {longest[1] * 1e3:9.2f}"
                )
    await client.aclose()


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    with tempfile.TemporaryDirectory() as folder, running(folder) as (port, _):
        asyncio.run(single_calls(port, rounds))
        asyncio.run(concurrent_calls(port))
        asyncio.run(stalls(port, Path(folder)))


if __name__ == "__main__":
    main()
