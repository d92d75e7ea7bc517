--TEST--
m out of range is a ValueError that holds the value
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
foreach ([[0, 'got 0'], [-1, 'got -1'], [PHP_INT_MIN, 'got -9223372036854775808'], [2 ** 40 + 1, 'got 1099511627777'],
          [PHP_INT_MAX, 'got 9223372036854775807'], [2 ** 63, 'got 9.2'], [0.0, 'got 0'], [0.5, 'got 0.5'], [10.7, 'got 10.7'],
          [NAN, 'got NAN'], [INF, 'got INF'], [-INF, 'got -INF']] as [$m, $part]) {
    refused('ValueError', $part, fn() => new BloomFilter($m, 100));
    refused('ValueError', $part, fn() => new BloomFilter(m: $m, k: 3));
    refused('ValueError', 'm must be', fn() => BloomFilter::plan($m, 100));
}
echo "done\n";
?>
--EXPECT--
done
