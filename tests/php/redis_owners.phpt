--TEST--
Filters whose names in Redis collide, on phpredis objects: neither takes a key from the other, and what is left of a deleted filter is not taken
--SKIPIF--
<?php if (!extension_loaded('redis')) die('skip phpredis is not loaded'); if (!trim((string)shell_exec('command -v redis-cli'))) die('skip no redis-cli');
--FILE--
<?php require __DIR__ . '/redis.inc';
require __DIR__ . '/redis_cluster.inc';
$server = new RedisServer;
$redis = new Redis;
$redis->connect('127.0.0.1', $server->port, 2, null, 0, 5);
$nodes = new RedisNodes;
$keys = urls(60);
$others = urls(20, 'other');
$kinds = ['fixed' => ['m' => 4000, 'k' => 5], 'cache' => ['m' => 4000, 'k' => 5, 'cache' => true], 'counting' => ['m' => 4000, 'k' => 5],
          'shards' => ['m' => 6000, 'k' => 5, 'shards' => 2], 'grow' => ['n' => 20, 'p' => 1e-4, 'grow' => 2], 'window' => ['n' => 100, 'p' => 1e-4, 'window' => 4000]];
$class = fn(string $kind) => $kind === 'counting' ? 'CountingBloomFilter' : 'BloomFilter';
$has = fn(BloomFilter $f, array $keys) => !in_array(false, $f->existMany($keys), true);
$empty = function (object $client) use ($nodes): void {
    if ($client instanceof Redis) $client->flushAll();
    else foreach ($client->_masters() as $master) $client->flushAll($master);
};

function use_it(object $client, string $class, string $kind, string $name, BloomFilter $f, array $keys): bool
{
    $f->addMany($keys);
    if (!in_array($kind, ['grow', 'window'])) {
        $f->union(clone $f);
        $f->rebuild($keys);
    }
    $all = fn(BloomFilter $f) => !in_array(false, $f->existMany($keys), true);
    $fine = $all($f) && $all($class::open($client, key: $name)) && $all(clone $f);
    $f->clear();
    if ($kind !== 'window') $f->expire(1000);
    return $fine && !$f->exists($keys[0]);
}

foreach ([$redis, cluster_client($nodes)] as $client) {
    foreach ($kinds as $first => $a_spec) foreach ($kinds as $second => $b_spec) foreach (['{s}', 's:0', '{s}:p0', 's:meta'] as $name) {
        $where = "$first s, $second $name";
        $empty($client);
        $a = new ($class($first))(...$a_spec, storage: $client, key: 's');
        $a->addMany($keys);
        try {
            $b = new ($class($second))(...$b_spec, storage: $client, key: $name);
        } catch (BloomFilterException) {
            same(true, $has($a, $keys), $where);
            continue;
        }
        try {
            same(true, use_it($client, $class($second), $second, $name, $b, $others), $where);
        } catch (BloomFilterException $e) {
            same(true, str_contains($e->getMessage(), 'not a part of this filter'), "$where: {$e->getMessage()}");
        }
        same([true, true], [$has($a, $keys), $has($class($first)::open($client, key: 's'), $keys)], $where);
        $b->delete();
        same([true, true], [$has($a, $keys), $has($class($first)::open($client, key: 's'), $keys)], $where);
        $a->delete();
        same(0, $client->exists('s') + $client->exists('{s}:meta') + $client->exists($name) + $client->exists('s:0') + $client->exists('{s}:p0'), $where);
    }
    # a part of the filter that had the name
    $empty($client);
    $f = new BloomFilter(...$kinds['grow'], storage: $client, key: 's');
    $f->addMany($keys);
    $left = array_map(fn($name) => $client->dump($name), $names = ['{s}:p0', '{s}:p0:meta']);
    $f->delete();
    new BloomFilter(...$kinds['grow'], storage: $client, key: 's');
    foreach ($names as $i => $name) {
        $client->del($name);
        $client->restore($name, 0, $left[$i]);
    }
    refused('BloomFilterException', 'left over from another filter of that name', fn() => BloomFilter::open($client, key: 's'));
}
--EXPECT--
