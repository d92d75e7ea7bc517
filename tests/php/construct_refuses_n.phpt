--TEST--
n out of range is a ValueError that holds the value
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
foreach ([[0, 'got 0'], [-1, 'got -1'], [PHP_INT_MIN, 'got -9223372036854775808'], [2 ** 63, 'got 9.2'], [1.5, 'got 1.5'],
          [0.01, 'for a rate write new BloomFilter(n: keys, p: 0.01)'], [NAN, 'got NAN'], [INF, 'got INF']] as [$n, $part]) {
    refused('ValueError', $part, fn() => new BloomFilter(1000, $n));
    refused('ValueError', $part, fn() => new BloomFilter(n: $n, p: 0.01));
    refused('ValueError', 'n must be', fn() => BloomFilter::plan(1000, $n));
}
echo "done\n";
?>
--EXPECT--
done
