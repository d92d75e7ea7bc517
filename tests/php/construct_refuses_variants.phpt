--TEST--
A parameter this version does not have is a clear exception, a senseless one a ValueError
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
refused('BloomFilterException', 'grow', fn() => new BloomFilter(n: 10, p: 0.1, grow: 2.0));
refused('BloomFilterException', 'window', fn() => new BloomFilter(n: 10, p: 0.1, window: 60));
refused('ValueError', 'grow must be a factor above 1, got 0', fn() => new BloomFilter(n: 10, p: 0.1, grow: 0));
refused('ValueError', 'grow must be a factor above 1, got NAN', fn() => new BloomFilter(n: 10, p: 0.1, grow: NAN));
refused('ValueError', 'got INF', fn() => new BloomFilter(n: 10, p: 0.1, window: INF));
refused('ValueError', 'got 0', fn() => new BloomFilter(n: 10, p: 0.1, window: 0));
refused('ValueError', 'got -1', fn() => new BloomFilter(n: 10, p: 0.1, shards: -1));
refused('ValueError', 'key=x', fn() => new BloomFilter(n: 10, p: 0.1, key: 'x'));
echo "done\n";
?>
--EXPECT--
done
