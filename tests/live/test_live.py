"""The schemes of older systems against those systems themselves, downloaded for the purpose: Guava
and Redisson from Maven Central, go-zero from the Go module proxy.  Optional: skipped where Java,
Maven, Go, redis-server or the network is missing.

    python -m pytest tests/live
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

import servers
import pytest
from bloomfilter import BloomFilter
from daemons import redis_command

HERE = Path(__file__).resolve().parent
CACHE = Path(tempfile.gettempdir()) / "bloomfilter-live"
TEXTS = [
    "",
    "a",
    "h\u00e4\u00df",
    "\u4e2d\u6587\u5b57",
    "\U0001f600 smile",
    *(f"https://www.example.org/item/{i}" for i in range(3000)),
]
NUMBERS = [0, -1, 1, 2**31 - 1, -(2**31), *range(5000, 8000)]
CASES = [
    ("bytes", "guava", TEXTS, 3100, 0.01),
    ("bytes", "guava:bytes", TEXTS, 3100, 1e-9),
    ("bytes", "guava", TEXTS, 40, 0.001378),
    ("chars", "guava:chars", TEXTS, 3100, 0.03),
    ("long", "guava:long", [*NUMBERS, 2**63 - 1, -(2**63)], 3100, 0.01),
    ("int", "guava:int", NUMBERS, 3100, 0.01),
]


def run(command, stdin="", cwd=None, timeout=300):
    how = {"capture_output": True, "encoding": "utf-8", "check": True}
    return subprocess.run(command, input=stdin, timeout=timeout, cwd=cwd, **how).stdout


def maven(folder, *goal):
    """What it downloads stays in the folder."""
    if not (shutil.which("java") and shutil.which("mvn")):
        pytest.skip("no Java or Maven")
    if not (folder / "complete").exists():
        folder.mkdir(parents=True, exist_ok=True)
        try:
            run(["mvn", "-q", "-B", *goal, f"-DoutputDirectory={folder}"], cwd=folder)
        except subprocess.SubprocessError:
            pytest.skip("Maven Central cannot be reached")
        (folder / "complete").touch()
    return f"{folder}/*"


@pytest.fixture(scope="session")
def guava():
    artifact = "-Dartifact=com.google.guava:guava:33.4.8-jre"
    jars = maven(CACHE / "guava-33.4.8", "dependency:copy", artifact)
    return ["java", "-cp", jars, str(HERE / "Live.java")]


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[1]}-{c[3]}-{c[4]}")
def test_guava(guava, case, tmp_path):
    funnel, scheme, keys, n, p = case
    lines = "".join(f"{key}\n" for key in keys)
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    run([*guava, "write", funnel, str(n), repr(p), str(theirs)], lines)
    bf = BloomFilter(n=n, p=p, scheme=scheme)
    bf.update(keys)
    assert bf.to_bytes(format="guava") == theirs.read_bytes()
    read = BloomFilter.from_bytes(theirs.read_bytes(), format="guava", scheme=scheme, n=n)
    assert read.bitset == bf.bitset
    more = [f"{key}7" if isinstance(key, str) else key // 2 + 10000 for key in keys]
    ours.write_bytes(bf.to_bytes(format="guava"))
    lines += "".join(f"{key}\n" for key in more)
    answers = run([*guava, "read", funnel, str(ours)], lines).strip()
    assert answers == "".join(str(b) for b in bf.contains_many([*keys, *more]))


@pytest.fixture(scope="session")
def gozero(tmp_path_factory):
    """A folder with go-zero's positions and its filter as programs."""
    if not shutil.which("go"):
        pytest.skip("no Go")
    folder = tmp_path_factory.mktemp("gozero")
    shutil.copytree(HERE / "gozero", folder, dirs_exist_ok=True)
    try:
        run(["go", "mod", "tidy"], cwd=folder)
    except subprocess.SubprocessError:
        pytest.skip("the Go module proxy cannot be reached")
    run(["go", "build", "-o", "programs/", "./..."], cwd=folder, timeout=1200)
    return folder / "programs"


def test_gozero(gozero):
    for bits in (1, 1000, 20480, 2**32):
        bf = BloomFilter(m=bits, scheme="gozero")
        rows = run([gozero / "live", str(bits)], "".join(f"{key}\n" for key in TEXTS)).splitlines()
        for key, row in zip(TEXTS, rows, strict=True):
            assert bf.hashcode(key) == [int(x) for x in row.split()]


class GoZero:
    """core/bloom on a key in Redis, in a process of its own that lives as long as the test."""

    def __init__(self, program, port, key, bits):
        self.process = subprocess.Popen(
            [program, f"127.0.0.1:{port}", key, str(bits)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )

    def _ask(self, verb, keys):
        answers = []
        for key in keys:
            self.process.stdin.write(f"{verb} {key}\n")
            answers.append(self.process.stdout.readline().strip())
        return answers

    def add(self, keys):
        assert set(self._ask("add", keys)) == {"<nil>"}

    def has(self, keys):
        """How many of them; an error of go-zero fails the test."""
        answers = self._ask("exists", keys)
        assert set(answers) <= {"true <nil>", "false <nil>"}, answers
        return answers.count("true <nil>")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(30)


def test_gozero_goes_on_with_a_key_that_is_adopted(gozero, redis_port):
    url = f"redis://127.0.0.1:{redis_port}/0?key=theirs&timeout=60"
    bits = 20480
    spec = {"scheme": "gozero", "m": bits, "adopt": True}
    first, more, ours, again = (
        [f"{name}-{i}" for i in range(50)] for name in ("first", "more", "ours", "again")
    )

    def both_have(keys, *handles):
        return theirs.has(keys) == len(keys) and all(
            h.contains_many(keys) == b"\1" * len(keys) for h in handles
        )

    with GoZero(gozero / "filter", redis_port, "theirs", bits) as theirs:
        theirs.add(first)
        bf = BloomFilter.open(url, **spec)
        cached = BloomFilter.open(url, cache=True, cache_max_age=1e-6)
        theirs.add(more)
        bf.update(ours)
        assert both_have(first + more + ours, bf, cached) and theirs.has(again) == 0
        fill = 0
        while bf.fill_ratio <= 0.5:  # then it is cleared
            theirs.add([f"fill-{fill}-{i}" for i in range(100)])
            fill += 1
        assert bf.saturated
        bf.clear()
        assert theirs.has(first + more + ours) == 0
        assert not any(bf.contains_many(first + more)) and not any(cached.contains_many(first))
        theirs.add(first)
        assert both_have(first, bf, cached) and theirs.has(more) == 0
        near = BloomFilter(scheme="gozero", m=bits)
        near.update(more)
        bf |= near
        assert both_have(first + more, bf, cached)
        bf.rebuild(ours)
        theirs.add(again)
        assert both_have(ours + again, bf, cached) and theirs.has(first + more) == 0
        bf.expire(1000)
        theirs.add(first)
        assert int(redis_command(redis_port, "TTL theirs")[1:]) > 900 and both_have(
            first + ours, cached
        )
        bf.delete()
        assert redis_command(redis_port, "DBSIZE") == b":0\r\n" and theirs.has(first) == 0
        theirs.add(more)  # their filter, begun again
        with pytest.raises(Exception, match="is lost"):
            cached.add("x")
        with BloomFilter.open(url, **spec) as bf:
            assert both_have(more, bf) and theirs.has(first + ours) == 0
            bf.expire(0.05)
            while redis_command(redis_port, "EXISTS theirs") != b":0\r\n":
                pass
            theirs.add(again)
            assert theirs.has(more) == 0
            with pytest.raises(Exception, match="is lost"):
                bf.contains_many(again)
            assert theirs.has(again) == len(again)


@pytest.fixture(scope="session")
def redisson():
    project = ["-f", str(HERE / "redisson/pom.xml"), "dependency:copy-dependencies"]
    jars = maven(CACHE / "redisson-3.45.1", *project)
    java = ["java", "-cp", jars, str(HERE / "redisson/Live.java")]
    return lambda *words, keys=(): run(
        [*java, *map(str, words)], "".join(f"{key}\n" for key in keys)
    ).strip()


@pytest.fixture
def redis_port(tmp_path):
    if not shutil.which("redis-server"):
        pytest.skip("no redis-server")
    with servers.running(tmp_path) as (port, _):
        yield port


@pytest.mark.parametrize(
    "n, p, name", [(1000, 0.01, "theirs"), (5000, 0.0001, "a{b}c"), (300, 1e-9, "tiny")]
)
def test_redisson(redisson, redis_port, n, p, name):
    """Either side makes the filter, the other one opens it, both add, both find everything."""
    url = f"redis://127.0.0.1:{redis_port}/0?key="
    config = f"{name}:config" if "{" in name else f"{{{name}}}:config"
    fields = "size hashIterations expectedInsertions falseProbability"
    keys, ours, absent = (
        TEXTS[1:200],
        [f"ours {i}" for i in range(100)],
        [f"absent {i}" for i in range(300)],
    )
    m, k = map(int, redisson("init", redis_port, name, n, repr(p)).split())
    made = redis_command(redis_port, f"HMGET {config} {fields}")
    assert redisson("add", redis_port, name, keys=keys)[:50] == "1" * 50
    with BloomFilter.open(url + name, scheme="redisson") as bf:
        rate = BloomFilter.plan(n=n, p=p, scheme="redisson")["p"]  # of its formula, not the p of it
        assert (bf.m, bf.k, bf.n, bf.p) == (m, k, n, rate)
        assert bf.contains_many(keys) == b"\1" * len(keys)
        bf.update(ours)
        mine = bf.contains_many(absent)
    assert redisson("contains", redis_port, name, keys=[*keys, *ours, *absent]) == "1" * (
        len(keys) + len(ours)
    ) + "".join(map(str, mine))
    redisson("delete", redis_port, name)
    with BloomFilter(n=n, p=p, scheme="redisson", storage=url + name) as bf:
        assert redis_command(redis_port, f"HMGET {config} {fields}") == made
        bf.update(ours)
        assert redisson("contains", redis_port, name, keys=ours) == "1" * len(ours)
        redisson("add", redis_port, name, keys=keys)
        assert bf.contains_many(keys) == b"\1" * len(keys)
        assert redisson("init", redis_port, name, n, repr(p)) == f"{m} {k}"
        redisson("delete", redis_port, name)
        with pytest.raises(Exception, match="is lost"):
            bf.add("x")
    assert redis_command(redis_port, "DBSIZE") == b":0\r\n"
