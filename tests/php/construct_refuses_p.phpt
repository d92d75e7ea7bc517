--TEST--
p out of range is a ValueError that holds the value
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
foreach ([[0.0, 'got 0'], [0, 'got 0'], [1.0, 'got 1'], [-0.1, 'got -0.1'], [2.0, 'got 2'], [NAN, 'got NAN'], [INF, 'got INF'],
          [-INF, 'got -INF']] as [$p, $part]) {
    refused('ValueError', "p must be above 0 and below 1, $part", fn() => new BloomFilter(n: 100, p: $p));
    refused('ValueError', 'p must be', fn() => BloomFilter::plan(n: 100, p: $p));
}
echo "done\n";
?>
--EXPECT--
done
