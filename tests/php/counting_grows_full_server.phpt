--TEST--
A growing filter of counters behind a phpredis object counts on a full server and on a replica, which take no writes
--SKIPIF--
<?php if (!extension_loaded('redis')) die('skip phpredis is not loaded');
--FILE--
<?php require __DIR__ . '/redis.inc';
$server = new RedisServer;
$redis = new Redis;
$redis->connect('127.0.0.1', $server->port);
$counting = new CountingBloomFilter(n: 9, p: 1e-9, grow: 1.0, storage: $redis, key: 'counted');
$counting->addMany(range(1, 30));
foreach ([['CONFIG SET maxmemory 1', 'CONFIG SET maxmemory 0', 'OOM'], ['REPLICAOF 127.0.0.1 1', 'REPLICAOF NO ONE', 'READONLY']] as [$begin, $end, $why]) {
    $server->say($begin);
    same([1, 1, 0], [$counting->countOf(1), $counting->countOf(30), $counting->countOf('x')]);
    refused('BloomFilterException', $why, fn() => $counting->add('x'));
    $server->say($end);
}
echo "OK\n";
--EXPECT--
OK
