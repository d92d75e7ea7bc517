"""Clients of Redis that others wrote, unchanged, on bloomfilterd: redis-cli, redis-benchmark,
phpredis, Predis, node-redis, go-redis.  test_resp.py has redis-py."""

import json
import os
import shutil
import subprocess

import pytest
import resp
from daemons import PATIENCE, ROOT, needs_redis

CLIENTS = ROOT / "tests/server/clients"
EXPECTED = ["OK", 1, 0, [1, 1, 0], 0, 3, 1, "ERR not found"]
NODE = ROOT / "out/node/node_modules"
GO = ROOT / "out/go-redis"


def run(*command, **more):
    done = subprocess.run(command, capture_output=True, text=True, timeout=4 * PATIENCE, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


PROGRAMS = {
    "predis": (["php", CLIENTS / "php.php"], ["predis"], lambda: has("Predis/Autoloader.php"), 1),
    "phpredis": (["php", CLIENTS / "php.php"], ["phpredis"], lambda: php_has("redis"), 1),
    "node-redis": (["node", CLIENTS / "node.js"], [], (NODE / "redis").is_dir, 2),
    "go-redis": ([GO], [], GO.is_file, 2),
}


def has(file):
    return os.path.exists(f"/usr/share/php/{file}")


def php_has(extension):
    found = shutil.which("php") and run("php", "-r", f"echo extension_loaded('{extension}');")
    return found == "1"


@pytest.mark.parametrize("name", PROGRAMS)
def test_clients(daemon, name):
    program, more, is_here, times = PROGRAMS[name]
    if not is_here():
        pytest.skip(f"no {name} here")
    env = os.environ | {"NODE_PATH": str(NODE)}
    told = run(*program, str(daemon.port), *more, env=env)
    assert [json.loads(line) for line in told.splitlines()] == [EXPECTED] * times


@needs_redis
def test_redis_cli(daemon):
    for protocol in ("-2", "-3"):
        cli = ["redis-cli", protocol, "-p", str(daemon.port)]
        assert run(*cli, "BF.ADD", "f" + protocol, "a").strip() in ("1", "(true)", "true")
        assert "Number of items inserted" in run(*cli, "BF.INFO", "f" + protocol)
    assert run(*cli, input="BF.ADD x a\nBF.EXISTS x a\nPING\n").split()[-1] == "PONG"
    piped = b"".join(resp.command("BF.ADD", "piped", i) for i in range(10_000)).decode()
    assert "errors: 0, replies: 10000" in run(*cli, "--pipe", input=piped)
    assert daemon.stats("piped")["adds"] == 10_000


@needs_redis
def test_redis_benchmark(daemon):
    args = ["-p", str(daemon.port), "-n", "20000", "-P", "64", "-c", "10", "-r", "1000000", "-q"]
    told = run("redis-benchmark", *args, "BF.ADD", "bench", "__rand_int__")
    assert "requests per second" in told
    assert daemon.stats("bench")["adds"] >= 20_000
