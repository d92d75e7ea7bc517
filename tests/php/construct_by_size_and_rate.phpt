--TEST--
m and p size a filter, n is then what fits
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$f = new BloomFilter(m: 100_000, p: 0.01);
same([100_000, 0.01, 'classic'], [$f->m, $f->p, $f->scheme]);
same(true, $f->n > 10_000 && $f->n < 10_500, "n = {$f->n}");
echo "done\n";
?>
--EXPECT--
done
