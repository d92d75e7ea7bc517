--TEST--
1e6 and "1000" are numbers, as everywhere in PHP
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
same([1_000_000, 100_000], [($f = new BloomFilter(1e6, 1e5))->m, $f->n]);
same([1000, 10], [($f = new BloomFilter('1000', '10'))->m, $f->n]);
same(5_000_000_000, BloomFilter::plan(n: 5e9, p: 0.01)['n']);
echo "done\n";
?>
--EXPECT--
done
