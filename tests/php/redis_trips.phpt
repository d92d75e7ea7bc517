--TEST--
A batch in Redis is one round trip for every 1000 keys
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
require __DIR__ . '/redis.inc';
$redis = new RedisServer();

# Each trip ends by reading the mark, an u32: MONITOR shows how often. (Of a filter so large that tests do not read all of it by one command.)
function trips(callable $call): int
{
    global $redis;
    $monitor = stream_socket_client("tcp://127.0.0.1:$redis->port");
    fwrite($monitor, "MONITOR\r\n");
    fgets($monitor);
    $call();
    $redis->say('ECHO that-was-all');
    for ($trips = 0; !str_contains($line = fgets($monitor), 'that-was-all');) $trips += str_contains($line, '"u32"');
    return $trips;
}

foreach ([999, 1000, 1001, 3000] as $n) {
    $redis->say('FLUSHALL');
    $f = new BloomFilter(m: 80_000_000, k: 7, storage: $redis->url("trips$n"));
    $keys = range(1, $n);
    $texts = array_map(fn($i) => str_repeat('long ', 100) . $i, $keys);
    $yield = fn() => yield from $keys;
    $want = (int)ceil($n / 1000);
    foreach (['addMany' => $keys, 'existMany' => $keys, 'addNew' => $texts] as $method => $given)
        same($want, trips(fn() => $f->$method($given)), "$method of $n");
    same($want, trips(fn() => $f->addMany($yield())), "a generator of $n");
}
echo "done\n";
?>
--EXPECT--
done
