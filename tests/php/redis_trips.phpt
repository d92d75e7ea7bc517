--TEST--
A batch in Redis is one round trip for every 1000 keys
--FILE--
<?php require __DIR__ . '/redis.inc';
$redis = new RedisServer();

# MONITOR shows it: a trip of tests ends by reading the mark, an u32 (of a filter so large that tests do not read all of it by one command); one of
# adds has a script for each 1024 positions, so how many scripts there are follows from where the trips end.
function trips(callable $call): array
{
    global $redis;
    $monitor = stream_socket_client("tcp://127.0.0.1:$redis->port");
    fwrite($monitor, "MONITOR\r\n");
    fgets($monitor);
    $call();
    $redis->say('ECHO that-was-all');
    for ($tests = $adds = 0; !str_contains($line = fgets($monitor), 'that-was-all');) {
        $tests += str_contains($line, '"u32"');
        $adds += str_contains($line, '"EVAL"');
    }
    return [$tests, $adds];
}
function ofAdds(int $n): array
{
    $scripts = fn($keys) => (int)ceil($keys / intdiv(1024, 7));
    return [0, intdiv($n, 1000) * $scripts(1000) + $scripts($n % 1000)];
}

foreach ([999, 1000, 1001, 3000] as $n) {
    $redis->say('FLUSHALL');
    $f = new BloomFilter(m: 80_000_000, k: 7, storage: $redis->url("trips$n"));
    $keys = range(1, $n);
    $texts = array_map(fn($i) => str_repeat('long ', 100) . $i, $keys);
    $yield = fn() => yield from $keys;
    foreach (['addMany' => $keys, 'addNew' => $texts] as $method => $given)
        same(ofAdds($n), trips(fn() => $f->$method($given)), "$method of $n");
    same([(int)ceil($n / 1000), 0], trips(fn() => $f->existMany($keys)), "existMany of $n");
    same(ofAdds($n), trips(fn() => $f->addMany($yield())), "a generator of $n");
}
--EXPECT--
