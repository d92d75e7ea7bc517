--TEST--
A parameter this version does not have is a clear exception, a senseless one a ValueError
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
refused('ValueError', 'grow needs n and p', fn() => new BloomFilter(m: 100, n: 10, grow: 2.0));
refused('ValueError', 'window needs n and p', fn() => new BloomFilter(m: 100, n: 10, window: 60));
refused('ValueError', 'must not be given together', fn() => new BloomFilter(n: 10, p: 0.1, grow: 2, window: 60));
refused('ValueError', 'give window', fn() => new BloomFilter(n: 10, p: 0.1, parts: 3));
refused('ValueError', 'give window', fn() => new BloomFilter(n: 10, p: 0.1, clock: time(...)));
refused('ValueError', 'shards', fn() => new BloomFilter(n: 10, p: 0.1, shards: 4, grow: 2.0));
refused('ValueError', 'grow must be a factor above 1, at most 1e300, got 0', fn() => new BloomFilter(n: 10, p: 0.1, grow: 0));
refused('ValueError', 'grow must be a factor above 1, at most 1e300, got NAN', fn() => new BloomFilter(n: 10, p: 0.1, grow: NAN));
refused('ValueError', 'got INF', fn() => new BloomFilter(n: 10, p: 0.1, window: INF));
refused('ValueError', 'got 0', fn() => new BloomFilter(n: 10, p: 0.1, window: 0));
refused('ValueError', 'got -1', fn() => new BloomFilter(n: 10, p: 0.1, shards: -1));
refused('ValueError', 'key=x', fn() => new BloomFilter(n: 10, p: 0.1, key: 'x'));
echo "done\n";
?>
--EXPECT--
done
