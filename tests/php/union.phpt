--TEST--
union is a new filter with the keys of both
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$a = new BloomFilter(n: 1000, p: 1e-6); $b = new BloomFilter(n: 1000, p: 1e-6);
$a->addMany(urls(200, 'a')); $b->addMany(urls(200, 'b'));
$both = $a->union($b);
same([200, 200], [count(array_filter($both->existMany(urls(200, 'a')))), count(array_filter($both->existMany(urls(200, 'b'))))]);
same(true, ($a->bitset | $b->bitset) === $both->bitset);
same([0, 0], [count(array_filter($a->existMany(urls(200, 'b')))), count(array_filter($b->existMany(urls(200, 'a'))))]);
$both->add('only here');
same([false, false], [$a->exists('only here'), $b->exists('only here')]);
same(true, $a->union($a)->equals($a));
echo "done\n";
?>
--EXPECT--
done
