"""A filter in Redis under the extension and the polyfill at once, made by either: the same answers as those of one
filter in memory."""

import json
import subprocess
from pathlib import Path

import pytest
import servers
from products import run

HERE = Path(__file__).resolve().parent
AUTOLOAD = HERE.parent.parent / "php-polyfill" / "autoload.php"
LOAD = f"require '{AUTOLOAD}';"
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
KEYS = [f"key {i}" for i in range(700)]
OTHERS = [f"other {i}" for i in range(300)]
# What one object, then the other one, is asked in turn.
CALLS = [
    ("addMany", KEYS),
    ("existMany", KEYS),
    ("add", "one"),
    ("add", "key 3"),
    ("addMany", OTHERS),
    ("existMany", [*OTHERS, "one", "none"]),
    ("add", "one"),
    ("hashcode", "x"),
    ("count",),
    ("toBytes",),
    ("addNew", ["one", "two", "two"]),
    ("exists", "two"),
    ("add", "three"),
    ("countOf", "two"),
    ("remove", "two"),
    ("exists", "two"),
    ("removeMany", ["three", "none"]),
    ("exists", "three"),
    ("clear",),
    ("exists", "one"),
    ("add", "after"),
    ("count",),
    ("rebuild", ["r1", "r2"]),
    ("existMany", ["r1", "r2", "after"]),
]


class Half:
    def __init__(self, php, kind, port):
        self.process = subprocess.Popen(
            [*php, HERE / "redis_together.php", kind, str(port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(self, key, shape, how, method, *arguments):
        line = json.dumps([key, shape, how, method, arguments])
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


@pytest.fixture(scope="module")
def memory(with_extension):
    half = Half(with_extension, "memory", 0)
    yield half
    half.end()


@pytest.fixture(scope="module", params=["phpredis", "predis"])
def halves(request, redis, with_extension, with_polyfill):
    pair = [Half(php, request.param, redis.port) for php in (with_extension, with_polyfill)]
    yield request.param, pair
    for half in pair:
        half.end()


@pytest.mark.parametrize("maker", [0, 1], ids=["made by the extension", "made by the polyfill"])
@pytest.mark.parametrize("name", SHAPES)
def test_both_use_one_filter(name, maker, halves, memory):
    kind, pair = halves
    shape, how = SHAPES[name]
    key = f"{kind}-{name}-{maker}"
    for i, (method, *arguments) in enumerate(CALLS):
        if method == "rebuild" and "growing" in name:
            break  # in Redis only
        # the maker has the parameters, the other one opens
        said = pair[(maker + i) % 2](key, shape, None if i % 2 else how, method, *arguments)
        assert said == memory(key, shape, how, method, *arguments), (i, method)
    one, other = pair
    assert [one(key, shape, how, "expire", 1000), other(key, shape, None, "delete")] == [None] * 2
    lost = one(key, shape, how, "exists", "r1")
    assert lost[0] == "BloomFilterException" and "is lost" in lost[2]
    gone = other(f"{key}-none", shape, None, "exists", "x")
    assert gone[1] == -9 and "does not exist" in gone[2]


ADDS = """
$client = new Redis;
$client->connect('127.0.0.1', (int) $argv[1]);
$f = BloomFilter::open($client, key: 'race');
for ($i = 0; $i < 2000; $i += 10) {
    $keys = array_map(fn($j) => "$argv[2] $j", range($i, $i + 9));
    $f->addMany($keys);
    if (array_sum($f->existMany($keys)) < 10) echo "lost $i\\n";
}
echo "added\\n";
fgets(STDIN);
foreach (['theirs', 'ours'] as $whose) echo array_sum($f->existMany(array_map(fn($j) => "$whose $j", range(0, 1999)))), ' ';
"""


def test_no_key_is_lost_while_both_grow_it(redis, with_extension, with_polyfill):
    make = "$c = new Redis; $c->connect('127.0.0.1', (int) $argv[1]); new BloomFilter(n: 50, p: 1e-6, grow: 1.5, storage: $c, key: 'race');"
    run([*with_extension, "-r", make, str(redis.port)])
    pair = [
        subprocess.Popen(
            [*php, "-r", LOAD + ADDS, str(redis.port), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for php, name in ((with_extension, "theirs"), (with_polyfill, "ours"))
    ]
    for process in pair:
        assert process.stdout.readline() == "added\n"
    assert [process.communicate("\n")[0] for process in pair] == ["2000 2000 "] * 2


@pytest.mark.parametrize(
    "side, kind",
    [("with_extension", "phpredis"), ("with_polyfill", "phpredis"), ("with_polyfill", "predis")],
)
def test_a_client_that_throws_and_exchanges_replies(side, kind, redis, request):
    php = request.getfixturevalue(side)
    said = run([*php, HERE / "hostile_client.php", kind, str(redis.port), "1"], text=True)
    answers, thrown = json.loads(said)
    assert answers > 4000
    assert thrown > 100


@pytest.mark.parametrize("client", ["phpredis", "predis"])
@pytest.mark.parametrize("how", ["Error", "Exception", "exit"])
def test_a_signal_handler_throws_into_round_trips(how, client, redis, php, phpredis):
    """The next reply is that of the next call."""
    proxy = servers.Proxy(redis.port)  # it is slow
    quiet = [php, "-n", *phpredis, "-d", "extension=posix", "-d", "bloomfilter.warn=0"]
    said = run([*quiet, HERE / "storm.php", AUTOLOAD, how, client, str(proxy.port)], text=True)
    proxy.stop()
    assert json.loads(said) == [1 if how == "exit" else 60, 0]


FORK = """
$c = new Redis;
$c->connect('127.0.0.1', (int) $argv[1]);
$f = new BloomFilter(n: 10000, p: 1e-6, storage: $c, key: 'fork');
$f->addMany(array_map(fn($i) => "in $i", range(0, 99)));
$c->setOption(Redis::OPT_READ_TIMEOUT, 1);
$child = pcntl_fork();
for ($wrong = $i = 0; $i < 2000; $i++) try { $wrong += !$f->exists('in ' . $i % 100) || $f->exists("out $i"); } catch (BloomFilterException) {}
if (!$child) exit((int) ($wrong > 0));
pcntl_waitpid($child, $status);
echo $wrong, ' ', pcntl_wexitstatus($status);
"""


def test_two_processes_of_a_fork_on_one_connection(redis, with_polyfill):
    assert run([*with_polyfill, "-r", LOAD + FORK, str(redis.port)], text=True) == "0 0"
