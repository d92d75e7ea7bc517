--TEST--
cache: known keys without a trip, the same answers, changes noticed; waitReplicas; timeout
--FILE--
<?php require __DIR__ . '/redis.inc';
$redis = new RedisServer;
$commands = function () use ($redis) { static $asked = 0; preg_match('/total_commands_processed:(\d+)/', $redis->say('INFO stats'), $m); return $m[1] - 2 * $asked++; };
$url = $redis->url('seen');
$keys = urls(500);
$f = new BloomFilter(n: 5000, p: 0.001, storage: $url, cache: true, cacheMaxAge: 1000.0);
same(500, $f->addMany($keys));
$before = $commands();
same([0, 500, false, true], [$f->addMany($keys), count(array_filter($f->existMany($keys))), $f->add($keys[3]), $f->exists($keys[4])]);
same($before, $commands(), 'no trip');
same([false, true], [$f->exists('other'), $commands() > $before], 'a trip');
BloomFilter::open($url)->clear();
$f->existMany(urls(100, 'others'));                     # a trip sees the new mark
same([false, 0], [$f->exists($keys[0]), count(array_filter($f->existMany($keys)))]);
unset($f);
# the worker keeps it, and what it knows, under its options
$make = fn() => new BloomFilter(n: 5000, p: 0.001, storage: $url, cache: true, cacheMaxAge: 1000.0);
$make()->addMany($keys);
$kept = kept();
$f = $make();
$before = $commands();
same([$kept, 500, $before], [kept(), count(array_filter($f->existMany($keys))), $commands()]);
new BloomFilter(n: 5000, p: 0.001, storage: $url, timeout: 59.0);
same($kept + 1, kept());

foreach ([['cache' => true], ['timeout' => 1.0], ['retryAfter' => 0.0]] as $none) refused('ValueError', 'no Redis is given', fn() => new BloomFilter(100, 10, ...$none));
foreach ([['cacheMaxAge' => 1.0], ['cacheMaxAge' => 0.0, 'cache' => true], ['retryAfter' => -0.5], ['retryAfter' => 86401.0], ['retryAfter' => NAN], ['timeout' => -1.0], ['waitReplicas' => 0]] as $wrong)
    refused('ValueError', array_key_first($wrong), fn() => new BloomFilter(100, 10, ...$wrong + ['storage' => $url]));
$deaf = stream_socket_server('tcp://127.0.0.1:0');
$silent = 'redis://' . stream_socket_get_name($deaf, false) . '?key=k&retry_after=1000';
refused('BloomFilterException', 'timed out', fn() => BloomFilter::open($silent, timeout: 0.2));
refused('BloomFilterException', 'it did not answer', fn() => new BloomFilter(100, 10, storage: $silent, timeout: 3600, retryAfter: 1000));
refused('BloomFilterException', 'timed out', fn() => BloomFilter::open($silent, timeout: 0.01, retryAfter: 0.0));
$w = new BloomFilter(n: 5000, p: 0.001, storage: $url, waitReplicas: 1, timeout: 10.0);
refused('BloomFilterException', 'added, but only 0 of waitReplicas=1 replicas had it', fn() => $w->add('new'));
same(true, $w->exists('new'));
--EXPECT--
