--TEST--
A filter in Redis: created, and one exception for whoever had it open when it was re-created
--FILE--
<?php require __DIR__ . '/redis.inc';
$redis = new RedisServer;
$url = $redis->url('seen');
$first = new BloomFilter(n: 1000, p: 0.01, storage: $url);
$second = new BloomFilter(n: 1000, p: 0.01, storage: $url);
same([true, false, false], [$first->created, $second->created, BloomFilter::open($url)->created]);
same(3, $first->addMany(['a', 'b', 'c']));
$redis->say('FLUSHALL');
$third = new BloomFilter(n: 1000, p: 0.01, storage: $url);
same(true, $third->created);
$third->addMany(['a', 'b']);
foreach (['3' => $first, '0' => $second] as $keys => $open)      # each of the objects that were open, once
    try {
        $open->exists('c');
        echo "no exception\n";
    } catch (BloomFilterException $e) {
        same([BloomFilterException::LOST, true], [$e->getCode(), str_contains($e->getMessage(), "was re-created: keys added before are gone ($keys by this object)")]);
    }
same([true, true], [$second->exists('a'), $second->exists('b')]);
same([true, false], [$first->exists('a'), $first->exists('c')]);
$first->clear();                                    # nobody is told of a clear()
same([false, true, true], [$third->exists('a'), $third->add('d'), $first->exists('d')]);
--EXPECT--
