<?php
/* bench.php PORT ROUNDS: filters in Redis from PHP, by URL and through phpredis and Predis, beside their PING and a BITFIELD pipeline by hand.
 * Prints raw times for bench/report.py. */
[, $port, $rounds] = $argv;
const SINGLE = 1000, BATCH = 5000;
function emit(...$cells): void { echo implode("\t", $cells), "\n"; }
function timed(string $table, string $subject, string $op, int $round, int $count, callable $run): void
{
    $start = hrtime(true);
    $run();
    emit('ns', $table, $subject, $op, $round, (hrtime(true) - $start) / $count);
}
$redis = new Redis;
$redis->connect('127.0.0.1', (int)$port);
require_once '/usr/share/php/Predis/autoload.php';
$predis = new Predis\Client("tcp://127.0.0.1:$port");
$homes = [];
foreach (['block', 'classic'] as $scheme) {
    $homes["$scheme, by URL"] = new BloomFilter(n: 10_000_000, p: 0.01, scheme: $scheme, storage: "redis://127.0.0.1:$port?key=pu$scheme");
    $homes["$scheme, phpredis"] = new BloomFilter(n: 10_000_000, p: 0.01, scheme: $scheme, storage: $redis, key: "pc$scheme");
    $homes["$scheme, Predis"] = new BloomFilter(n: 10_000_000, p: 0.01, scheme: $scheme, storage: $predis, key: "pp$scheme");
}
$classic = $homes['classic, by URL'];
$redis->setBit('phand', $classic->m, false);
$hand = function (array $keys) use ($redis, $classic) {
    $redis->pipeline();
    foreach ($keys as $key) {
        $args = ['BITFIELD', 'phand'];
        foreach ($classic->hashcode($key) as $position) array_push($args, 'SET', 'u1', $position, 1);
        $redis->rawCommand(...$args);
    }
    $redis->exec();
};
emit('table', 'php-single', 'us', "Redis, PHP, one key a call, $rounds rounds of " . SINGLE . ': us a call');
emit('table', 'php-batch', 'us', "Redis, PHP, batches, $rounds rounds of " . BATCH . ' keys: us a key');
for ($round = 0; $round < $rounds; $round++) {
    $keys = [];
    for ($i = 0; $i < BATCH; $i++) $keys[] = sprintf('https://www.example.com/shop/item/p%017d', $round * BATCH + $i);
    $few = array_slice($keys, 0, SINGLE);
    timed('php-single', 'PING, phpredis', 'ping', $round, SINGLE, function () use ($redis, $few) { foreach ($few as $_) $redis->ping(); });
    timed('php-single', 'PING, Predis', 'ping', $round, SINGLE, function () use ($predis, $few) { foreach ($few as $_) $predis->ping(); });
    timed('php-single', 'EVAL "return 1", Predis', 'ping', $round, SINGLE, function () use ($predis, $few) { foreach ($few as $_) $predis->eval('return 1', 0); });
    foreach ($homes as $name => $f) {
        timed('php-single', $name, 'add', $round, SINGLE, function () use ($f, $few) { foreach ($few as $key) $f->add($key); });
        timed('php-single', $name, 'test', $round, SINGLE, function () use ($f, $few) { foreach ($few as $key) $f->exists($key); });
    }
    timed('php-batch', 'BITFIELD pipeline by hand, phpredis', 'add', $round, SINGLE, fn() => $hand($few));
    foreach ($homes as $name => $f) {
        timed('php-batch', $name, 'add', $round, BATCH, fn() => $f->addMany($keys));
        timed('php-batch', $name, 'test', $round, BATCH, fn() => $f->existMany($keys));
    }
}
