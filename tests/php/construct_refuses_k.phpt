--TEST--
k out of range is a ValueError that holds the value
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
foreach ([0, -1, 4097, 2 ** 32, 2 ** 32 + 1, PHP_INT_MAX, PHP_INT_MIN] as $k) {
    refused('ValueError', "k must be 1 to 4096 positions, got $k", fn() => new BloomFilter(m: 1000, k: $k));
    refused('ValueError', "got $k", fn() => new BloomFilter(1000, 10, $k));
}
foreach ([1.5, 0.0, -1.0, 4097.0, 2.0 ** 32, 2.0 ** 63, 1e30] as $k) {      // as of m and n: no TypeError, and nothing is cut off
    refused('ValueError', 'k must be 1 to 4096 positions, got ' . json_encode($k, JSON_PARTIAL_OUTPUT_ON_ERROR)[0], fn() => new BloomFilter(m: 1000, k: $k));
}
refused('ValueError', 'got 1.5', fn() => BloomFilter::open('missing', k: 1.5));
refused('ValueError', 'got 1.5', fn() => BloomFilter::fromBytes('', k: 1.5));
refused('ValueError', 'got 1.5', fn() => BloomFilter::plan(m: 1000, k: 1.5));
refused('ValueError', 'got NAN', fn() => new BloomFilter(m: 1000, k: NAN));
refused('ValueError', 'got 1.5', fn() => new BloomFilter(m: 1000, k: 1.5));
same(347, (new BloomFilter(1000, 2, ceil(1000 / 2 * log(2))))->k);                      // a float, as ceil() gives it
refused('ValueError', 'got 17', fn() => new BloomFilter(m: 1000, k: 17, scheme: 'block'));
same(4096, (new BloomFilter(m: 100_000, k: 4096))->k);
echo "done\n";
?>
--EXPECT--
done
