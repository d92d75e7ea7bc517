--TEST--
A filter of RedisBloom as BF.SCANDUMP gave it: the same bytes both ways; places without the module
--FILE--
<?php require __DIR__ . '/helpers.inc';
$f = new BloomFilter(n: 100, p: 0.01, scheme: 'redisbloom', grow: 2.0);
$f->addMany(urls(300));
$bytes = $f->toBytes('redisbloom');
same([$bytes, 'redisbloom'], [BloomFilter::fromBytes($bytes, format: 'redisbloom')->toBytes('redisbloom'), $f->scheme]);
refused('BloomFilterException', 'RedisBloom', fn() => BloomFilter::fromBytes('no dump', format: 'redisbloom'));
refused('ValueError', 'module RedisBloom', fn() => BloomFilter::fromRedisBloom('seen.bloom', 'seen'));
refused('ValueError', 'scheme redisbloom', fn() => (new BloomFilter(n: 10, p: 0.1))->toRedisBloom('redis://127.0.0.1:1/0', 'seen'));
refused('TypeError', '', fn() => BloomFilter::fromRedisBloom(new stdClass, 'seen'));
--EXPECT--
