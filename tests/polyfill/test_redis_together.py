"""A filter in Redis under the extension and the polyfill at once, made by either: the same answers, as if
one object had been called."""

import json
import subprocess
from pathlib import Path

import pytest
import servers

HERE = Path(__file__).resolve().parent
AUTOLOAD = HERE.parent.parent / "php-polyfill" / "autoload.php"
SHAPES = {
    "block": ("BloomFilter", {"n": 2000, "p": 0.01}),
    "block2": ("BloomFilter", {"n": 2000, "p": 1e-5}),
    "classic": ("BloomFilter", {"m": 20011, "n": 2000}),
    "shards": ("BloomFilter", {"n": 2000, "p": 0.01, "scheme": "classic", "shards": 3}),
    "counting": ("CountingBloomFilter", {"n": 2000, "p": 0.001}),
    "growing": ("BloomFilter", {"n": 200, "p": 0.01, "grow": 2.0}),
    "counting and growing": ("CountingBloomFilter", {"n": 200, "p": 0.001, "grow": 2.0}),
    "hashes": ("BloomFilter", {"scheme": "gozero", "n": 2000}),
}


class Half:
    def __init__(self, php, kind, port):
        self.process = subprocess.Popen(
            [*php, HERE / "redis_together.php", kind, str(port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(self, key, shape, how, *operations):
        line = json.dumps([key, shape, how, [[method, list(args)] for method, *args in operations]])
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(60) == 0


@pytest.fixture(scope="module")
def redis(tmp_path_factory):
    server = servers.Server(tmp_path_factory.mktemp("redis") / "server")
    yield server
    server.stop()


@pytest.fixture(scope="module", params=["phpredis", "predis"])
def halves(request, redis, with_extension, with_polyfill):
    pair = (
        Half(with_extension, request.param, redis.port),
        Half(with_polyfill, request.param, redis.port),
    )
    yield request.param, pair
    for half in pair:
        half.end()


@pytest.mark.parametrize("maker", [0, 1], ids=["made by the extension", "made by the polyfill"])
@pytest.mark.parametrize("name", SHAPES)
def test_both_use_one_filter(name, maker, halves):
    kind, pair = halves
    shape, how = SHAPES[name]
    key = f"{kind}-{name}-{maker}"
    a, b = pair[maker], pair[1 - maker]
    keys = [f"key {i}" for i in range(700)]
    others = [f"other {i}" for i in range(300)]
    assert a(key, shape, how, ("addMany", keys)) == [700] or "growing" in name
    first = b(
        key,
        shape,
        None,
        ("existMany", keys),
        ("add", "one"),
        ("add", "key 3"),
        ("addMany", others),
        ("toBytes",),
        ("hashcode", "x"),
        ("count",),
    )
    assert first[0] == [True] * 700 and first[1:3] == [True, False]
    again = a(
        key,
        shape,
        how,
        ("existMany", [*others, "one"]),
        ("add", "one"),
        ("toBytes",),
        ("hashcode", "x"),
        ("count",),
    )
    assert again[0] == [True] * 301 and again[1] is False
    if "counting" not in name:  # the counters of "one" rose
        assert again[2:] == first[4:]
    assert (
        b(
            key,
            shape,
            None,
            ("existMany", others[:50] + ["no 1", "no 2"]),
            ("addNew", ["one", "two"]),
        )[0][:50]
        == [True] * 50
    )
    assert a(key, shape, how, ("exists", "two"), ("add", "three")) == [True, True]
    if "counting" in name:
        assert b(key, shape, None, ("countOf", "two"), ("remove", "two")) == [1, True]
        assert a(key, shape, how, ("exists", "two"), ("removeMany", ["three", "none"])) == [
            False,
            1,
        ]
        assert b(key, shape, None, ("exists", "three")) == [False]
    assert a(key, shape, how, ("clear",)) == [None]
    assert b(key, shape, None, ("exists", "one"), ("add", "after"), ("count",)) == [False, True, 1]
    if "growing" not in name:
        assert b(key, shape, None, ("rebuild", ["r1", "r2"])) == [2]
        assert a(key, shape, how, ("exists", "r1"), ("exists", "after")) == [True, False]
    assert b(key, shape, None, ("expire", 1000), ("delete",)) == [None, None]
    (lost,) = a(key, shape, how, ("exists", "r1"))
    assert lost[0] == "BloomFilterException" and "is lost" in lost[2]
    (gone,) = b(f"{key}-none", shape, None, ("exists", "x"))
    assert gone[1] == -9 and "does not exist" in gone[2]


ADDS = """
$client = new Redis;
$client->connect('127.0.0.1', (int) $argv[1]);
$f = BloomFilter::open($client, key: 'race');
for ($new = 0, $i = 0; $i < 2000; $i += 10) {
    $keys = array_map(fn($j) => "$argv[2] $j", range($i, $i + 9));
    $new += $f->addMany($keys);
    if (array_sum($f->existMany($keys)) < 10) echo "lost $i\\n";
}
echo "added\\n";
fgets(STDIN);
foreach (['theirs', 'ours'] as $whose) echo array_sum($f->existMany(array_map(fn($j) => "$whose $j", range(0, 1999)))), ' ';
"""


def test_no_key_is_lost_while_both_grow_it(redis, with_extension, with_polyfill):
    load = f"require '{HERE.parent.parent}/php-polyfill/autoload.php';"
    make = "$c = new Redis; $c->connect('127.0.0.1', (int) $argv[1]); new BloomFilter(n: 50, p: 1e-6, grow: 1.5, storage: $c, key: 'race');"
    subprocess.run([*with_extension, "-r", make, str(redis.port)], check=True)
    pair = [
        subprocess.Popen(
            [*php, "-r", load + ADDS, str(redis.port), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for php, name in ((with_extension, "theirs"), (with_polyfill, "ours"))
    ]
    for process in pair:
        assert process.stdout.readline() == "added\n"
    assert [process.communicate("\n")[0] for process in pair] == ["2000 2000 "] * 2


@pytest.mark.parametrize("kind", ["phpredis", "predis"])
@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_a_client_that_throws_and_exchanges_replies(kind, seed, redis, with_polyfill):
    command = [*with_polyfill, HERE / "hostile_client.php", kind, str(redis.port), seed]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    answers, thrown = json.loads(done.stdout)
    assert answers > 5000
    assert thrown > 100


@pytest.mark.parametrize("client", ["phpredis", "predis"])
@pytest.mark.parametrize("how", ["Error", "Exception", "exit"])
def test_a_signal_handler_throws_into_round_trips(how, client, redis, php, phpredis):
    """The next reply is that of the next call."""
    proxy = servers.Proxy(redis.port)  # it is slow
    quiet = [php, "-n", *phpredis, "-d", "extension=posix", "-d", "bloomfilter.warn=0"]
    command = [*quiet, HERE / "storm.php", AUTOLOAD, how, client, str(proxy.port)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    proxy.stop()
    assert json.loads(done.stdout) == [1 if how == "exit" else 60, 0]


FORK = """
$c = new Redis;
$c->connect('127.0.0.1', (int) $argv[1]);
$c->setOption(Redis::OPT_READ_TIMEOUT, 1);
$f = new BloomFilter(n: 10000, p: 1e-6, storage: $c, key: 'fork');
$f->addMany(array_map(fn($i) => "in $i", range(0, 99)));
$child = pcntl_fork();
for ($wrong = $i = 0; $i < 2000; $i++) try { $wrong += !$f->exists('in ' . $i % 100) || $f->exists("out $i"); } catch (BloomFilterException) {}
if (!$child) exit((int) ($wrong > 0));
pcntl_waitpid($child, $status);
echo $wrong, ' ', pcntl_wexitstatus($status);
"""


def test_two_processes_of_a_fork_on_one_connection(redis, with_polyfill):
    load = f"require '{HERE.parent.parent}/php-polyfill/autoload.php';"
    command = [*with_polyfill, "-r", load + FORK, str(redis.port)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "0 0"


def test_an_add_says_that_the_filter_was_created_again(redis, with_polyfill):
    warns = [part for part in with_polyfill if part != "bloomfilter.warn=0"][:-1]
    command = [*warns, HERE / "recreated.php", str(redis.port)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "done\n"


def test_growing_filters_that_grew_unequally_are_united(redis, with_polyfill, with_extension):
    ours, theirs = (
        subprocess.run(
            [*php, HERE / "unequal.php", str(redis.port)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for php in (with_polyfill, with_extension)
    )
    assert ours == theirs and ours.endswith("truefalse\n")
