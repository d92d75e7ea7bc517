--TEST--
isCurrent() in Redis: true after a clear(), false for another filter or none, an exception if Redis does not say it
--FILE--
<?php require __DIR__ . '/redis.inc';
$redis = new RedisServer;
foreach ([[], ['m' => 5000], ['grow' => 2.0], ['shards' => 3], ['count' => 1]] as $shape => $given) {
    $class = isset($given['count']) ? 'CountingBloomFilter' : 'BloomFilter';
    unset($given['count']);
    $make = fn() => new $class(...$given, n: 100, p: 0.01, storage: $redis->url('seen'));
    $redis->say('FLUSHALL');
    [$f, $other] = [$make(), $make()];
    $other->clear();
    same([true, true], [$f->isCurrent(), $other->isCurrent()], "shape $shape");
    $key = isset($given['shards']) ? 'seen:1' : 'seen';
    $redis->say("DEL $key");
    same([false, false], [$f->isCurrent(), $other->isCurrent()], "shape $shape, deleted");
    $redis->say("LPUSH $key x");
    same(false, $f->isCurrent(), "shape $shape, another type");
    $redis->say('FLUSHALL');
    same([true, false], [$make()->isCurrent(), $f->isCurrent()], "shape $shape, re-created");
}
$f = new BloomFilter(n: 100, p: 0.01, storage: $redis->url('seen2'));
$redis->stop();
try {
    $f->isCurrent();
    echo "no exception\n";
} catch (BloomFilterException $e) {
    same(BloomFilterException::IO, $e->getCode(), $e->getMessage());
}
--EXPECT--
