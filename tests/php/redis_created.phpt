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
refused(BloomFilterException::class, 'was re-created: keys added before are gone (3 by this object)', fn() => $first->exists('c'));
same([true, false], [$first->exists('a'), $first->exists('c')]);
$first->clear();                                    # nobody is told of a clear()
same([false, true, true], [$third->exists('a'), $third->add('d'), $first->exists('d')]);
--EXPECT--
