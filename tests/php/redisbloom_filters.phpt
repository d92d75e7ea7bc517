--TEST--
A filter of RedisBloom as BF.SCANDUMP gave it: the same bytes both ways; places without the module
--FILE--
<?php require __DIR__ . '/helpers.inc';
require __DIR__ . '/vectors.inc';
foreach (vector_lines('redisbloom.txt') as $line) {
    $whole = end($line);
    if ($whole !== '-') same($whole, bin2hex(BloomFilter::fromBytes(hex2bin($whole), format: 'redisbloom')->toBytes('redisbloom')), implode(' ', array_slice($line, 0, 3)));
}
same('redisbloom', (new BloomFilter(n: 100, p: 0.01, scheme: 'redisbloom', grow: 2.0))->scheme);
refused('BloomFilterException', 'RedisBloom', fn() => BloomFilter::fromBytes('no dump', format: 'redisbloom'));
refused('ValueError', 'module RedisBloom', fn() => BloomFilter::fromRedisBloom('seen.bloom', 'seen'));
refused('ValueError', 'scheme redisbloom', fn() => (new BloomFilter(n: 10, p: 0.1))->toRedisBloom('redis://127.0.0.1:1/0', 'seen'));
refused('TypeError', '', fn() => BloomFilter::fromRedisBloom(new stdClass, 'seen'));
--EXPECT--
