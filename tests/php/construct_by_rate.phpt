--TEST--
n and p give m, k and the scheme
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$f = new BloomFilter(n: 1_000_000, p: 0.01);
same([1_000_000, 0.01, 'block', 0], [$f->n, $f->p, $f->scheme, $f->m % 512]);
same(true, $f->m / $f->n <= 9.95 + 0.01, "block at 1 %: {$f->m} bits");
$f = new BloomFilter(n: 1_000_000, p: 0.0001);
same([0.0001, 'block2'], [$f->p, $f->scheme]);
same(true, $f->m / $f->n <= 19.89 + 0.02, "block2 at 0.01 %: {$f->m} bits");
$f = new BloomFilter(n: 1_000_000, p: 0.01, scheme: 'classic');
same([0.01, 'classic', 7], [$f->p, $f->scheme, $f->k]);
same(true, abs($f->m / $f->n - 9.59) < 0.01, "classic at 1 %: {$f->m} bits");
same('block', (new BloomFilter(n: 1000, p: 0.001))->scheme);
echo "done\n";
?>
--EXPECT--
done
