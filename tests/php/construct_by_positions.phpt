--TEST--
m and k size a filter, n is then floor(m/k ln 2)
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$f = new BloomFilter(m: 1000, k: 7);
same([1000, 7, 99, 'classic'], [$f->m, $f->k, $f->n, $f->scheme]);
echo "done\n";
?>
--EXPECT--
done
