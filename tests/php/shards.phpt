--TEST--
shards: the bits in equal parts, in memory, in bytes, in files and in Redis
--FILE--
<?php require __DIR__ . '/redis.inc';
$redis = new RedisServer;
$keys = urls(3000);
$warned = [];
set_error_handler(function (int $level, string $text) use (&$warned) { $warned[] = [$level, $text]; return true; });
BloomFilter::plan(n: 10 ** 9, p: 0.01);
BloomFilter::plan(n: 10 ** 9, p: 0.01, storage: $redis->url('planned'), overfull: 'ignore');
BloomFilter::plan(n: 10 ** 9, p: 0.01, storage: $redis->url('planned'), shards: 19);
BloomFilter::plan(n: 10 ** 9, p: 0.01, storage: $redis->url('planned'));
restore_error_handler();
same([[E_USER_WARNING, 'BloomFilter::plan(): Redis stops all clients while it creates or clears a key of 296 MiB; shards=19 keeps each stop below 50 ms, or set bloomfilter.warn=0']], $warned);
foreach (['classic', 'block', 'block2'] as $scheme) {
    $memory = new BloomFilter(m: 50000, k: 6, scheme: $scheme, shards: 5);
    $far = new BloomFilter(m: 50000, k: 6, scheme: $scheme, shards: 5, storage: $redis->url("s$scheme"));
    $file = new BloomFilter(m: 50000, k: 6, scheme: $scheme, shards: 5, storage: "$redis->dir/$scheme.bloom");
    same([5, 5, 5, 1], [$memory->shards(), $far->shards(), $file->shards(), (new BloomFilter(100, 10))->shards()], $scheme);
    same($memory->addMany($keys), $far->addMany($keys), $scheme);
    $file->addMany($keys);
    $ask = [...$keys, ...urls(1000, 'other')];
    same($memory->existMany($ask), $far->existMany($ask), $scheme);
    same([true, true, true, $memory->bitset], [$far->equals($memory), $file->equals($far), BloomFilter::fromBytes($far->toBytes())->equals($memory), $far->bitset], $scheme);
    same(5, BloomFilter::open($redis->url("s$scheme"))->shards());
    same(5, (clone $far)->shards());
    foreach ($memory->hashcode('x') as $position) same(intdiv($memory->hashcode('x')[0], $memory->m / 5), intdiv($position, $memory->m / 5), 'one shard');
    refused('BloomFilterException', 'has shards=5, asked for shards=4', fn() => new BloomFilter(m: 50000, k: 6, scheme: $scheme, shards: 4, storage: $redis->url("s$scheme")));
    $plain = new BloomFilter(m: $memory->m, k: 6, scheme: $scheme);
    $plain->addMany($keys);
    same($scheme === 'block', $plain->equals($memory), $scheme);
    same(true, str_starts_with($redis->say("EXISTS s$scheme:0 s$scheme:4 s$scheme:4:meta s$scheme:meta s$scheme:5 s$scheme"), ":4\r"));
    $redis->say("DEL s$scheme:1");
    refused('BloomFilterException', "Redis key s$scheme:1 at", fn() => $far->existMany($keys));
    same(5, (new BloomFilter(m: 50000, k: 6, scheme: $scheme, storage: $redis->url("s$scheme")))->shards());
    $far->addMany($keys);
    same(true, $far->equals($memory));
    $far->delete();
}
same(true, str_starts_with($redis->say('DBSIZE'), ":0\r"));
refused('ValueError', 'shards must be 1 to 4096, got 5000', fn() => new BloomFilter(m: 50000, k: 6, shards: 5000));
refused('ValueError', 'shards must be 1 for scheme php-mt', fn() => new BloomFilter(m: 50000, k: 6, scheme: 'php-mt', shards: 2));
same([0, 4294967296], [BloomFilter::plan(n: 1000, p: 0.1, shards: 4)['m'] % 2048, BloomFilter::plan(m: 2 ** 32 - 5, k: 3, storage: $redis->url('large'), overfull: 'ignore')['m']]);
--EXPECT--
