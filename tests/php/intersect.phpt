--TEST--
intersect is a new filter with the bits of both
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$a = new BloomFilter(n: 1000, p: 1e-6); $b = new BloomFilter(n: 1000, p: 1e-6);
$a->addMany([...urls(100, 'a'), ...urls(100, 'common')]);
$b->addMany([...urls(100, 'b'), ...urls(100, 'common')]);
$both = $a->intersect($b);
same(100, count(array_filter($both->existMany(urls(100, 'common')))));
same(true, ($a->bitset & $b->bitset) === $both->bitset);
same(true, count(array_filter($both->existMany(urls(100, 'a')))) < 5);
same(100, count(array_filter($a->existMany(urls(100, 'a')))));
echo "done\n";
?>
--EXPECT--
done
