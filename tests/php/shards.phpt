--TEST--
shards: the bits in equal parts, in memory, in bytes, in files and in Redis; plan() warns of a key that is too large
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
$given = ['m' => 50000, 'k' => 6, 'shards' => 5];
[$memory, $far, $file] = array_map(fn($storage) => new BloomFilter(...$given, storage: $storage), [null, $redis->url('s'), "$redis->dir/s.bloom"]);
$new = $memory->addMany($keys);
foreach ([$far, $file] as $f) same([5, $new, true], [$f->shards(), $f->addMany($keys), $f->equals($memory)]);
same([5, 5, 1], [BloomFilter::open($redis->url('s'))->shards(), (clone $far)->shards(), (new BloomFilter(100, 10))->shards()]);
same([true, $memory->bitset, $memory->existMany(urls(4000))], [BloomFilter::fromBytes($far->toBytes())->equals($memory), $far->bitset, $far->existMany(urls(4000))]);
refused('BloomFilterException', 'has shards=5, asked for shards=4', fn() => new BloomFilter(...['shards' => 4] + $given, storage: $redis->url('s')));
$redis->say('DEL s:1');
refused('BloomFilterException', 'Redis key s:1 at', fn() => $far->existMany($keys));
same(0, BloomFilter::plan(n: 1000, p: 0.1, shards: 4)['m'] % 2048);
--EXPECT--
