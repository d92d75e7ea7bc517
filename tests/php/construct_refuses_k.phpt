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
refused('ValueError', 'got 17', fn() => new BloomFilter(m: 1000, k: 17, scheme: 'block'));
same(4096, (new BloomFilter(m: 100_000, k: 4096))->k);
echo "done\n";
?>
--EXPECT--
done
