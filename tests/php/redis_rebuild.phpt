--TEST--
rebuild(): other keys at once, for everybody, and nothing changed where it failed
--FILE--
<?php require __DIR__ . '/redis.inc';
$redis = new RedisServer;
foreach ([['n' => 5000], ['n' => 5000, 'shards' => 3], ['n' => 200, 'grow' => 2.0]] as $given) {
    $shards = $given['shards'] ?? null;
    $f = new BloomFilter(...$given, p: 0.0001, storage: $redis->url('re'));
    $g = BloomFilter::open($redis->url('re'));
    $f->addMany(urls(1000));
    $f->expire(1000);
    $seen = [];
    $keys = function () use ($g, &$seen) {
        foreach (urls(600, 'new') as $i => $url) {
            if ($i === 300) $seen = [$g->exists(urls(1)[0]), $g->exists($url), $g->add('meanwhile')];     # used as ever
            yield $url;
            yield $url;
        }
    };
    same(600, $f->rebuild($keys()));
    same([true, false, true], $seen);
    same([600, 0, false], [count(array_filter($g->existMany(urls(600, 'new')))), count(array_filter($g->existMany(urls(1000)))), $g->exists('meanwhile')]);
    same(1, preg_match('/^:(99\d|1000)\r/', $redis->say($shards ? 'TTL re:2' : 'TTL re')));
    same(2, $f->rebuild(['a', 7, '7']));
    same([true, true], [$g->exists('a'), $g->exists('7')]);
    refused('TypeError', 'index 1', fn() => $f->rebuild(['b', 1.5]));
    refused('LogicException', 'stop', fn() => $f->rebuild((function () { yield 'c'; throw new LogicException('stop'); })()));
    same([true, false, false], [$g->exists('a'), $g->exists('b'), $g->exists('c')]);
    same(0, $f->rebuild([]));
    same([false, 0], [$g->exists('a'), $g->count()]);
    $h = BloomFilter::open($redis->url('re'), key: 're');
    refused('BloomFilterException', 'closed', fn() => $h->rebuild((function () use ($h) { yield 'd'; $h->close(); })()));
    same(false, $g->exists('d'));
    refused('BloomFilterException', 'read-only', fn() => BloomFilter::open($redis->url('re'), readOnly: true)->rebuild(['e']));
    $g->delete();
    refused('BloomFilterException', 'is lost', fn() => $f->rebuild(['e']));
    same(true, str_starts_with($redis->say('DBSIZE'), ":0\r"));
    unset($f, $g, $h);
}
refused('TypeError', 'Traversable|array, string given', fn() => (new BloomFilter(100, 10))->rebuild('a'));
--EXPECT--
