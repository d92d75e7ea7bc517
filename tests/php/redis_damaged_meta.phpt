--TEST--
A number in the companion hash of a filter in Redis is nothing but a number
--FILE--
<?php require __DIR__ . '/redis.inc';
$redis = new RedisServer;
foreach (['born' => ['grow' => 2.0], 'p' => [], 'grow' => ['grow' => 2.0], 'part0' => ['grow' => 2.0]] as $field => $given)
    foreach (['1 ', "1\t", '1x', 'x', ''] as $text) {
        $redis->say('FLUSHALL');
        $f = new BloomFilter(...$given, n: 100, p: 0.01, storage: $redis->url('seen'));
        preg_match('/\r\n(.*)\r\n/', $redis->say("HGET seen:meta $field"), $is);
        $redis->say("HSET seen:meta $field \"" . ($field === 'part0' ? "$is[1]$text" : $text) . '"');
        if ($field !== 'part0' || $text !== '')
            refused('BloomFilterException', "field $field of its companion hash (:meta) is missing or invalid", fn() => BloomFilter::open($redis->url('seen')));
    }
echo "done\n";
--EXPECT--
done
