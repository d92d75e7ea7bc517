--TEST--
The classic constructor takes m and n; k = ceil(m/n ln 2)
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
foreach ([[10, 2, 4], [1000, 100, 7], [1000, 2, 347], [1, 1, 1], [100, 1000, 1], [9586, 1000, 7]] as [$m, $n, $k]) {
    $f = new BloomFilter($m, $n);
    same([$m, $n, $k, 'classic'], [$f->m, $f->n, $f->k, $f->scheme], "m=$m n=$n");
    same(round((1 - exp(-$k / ($m / $n))) ** $k, 12), round($f->p, 12), 'the formula');
}
$f = new BloomFilter(1000, 100, 3);
same([1000, 100, 3], [$f->m, $f->n, $f->k]);
echo "done\n";
?>
--EXPECT--
done
