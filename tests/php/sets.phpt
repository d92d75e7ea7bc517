--TEST--
union, intersect and equals
--FILE--
<?php require __DIR__ . '/helpers.inc';
# union and intersect are new filters with the bits of both and of each.
[$a, $b] = [new BloomFilter(n: 1000, p: 1e-6), new BloomFilter(n: 1000, p: 1e-6)];
$a->addMany([...urls(100, 'a'), ...urls(100, 'common')]);
$b->addMany([...urls(100, 'b'), ...urls(100, 'common')]);
$bits = [$a->bitset, $b->bitset];
[$both, $common] = [$a->union($b), $a->intersect($b)];
same([$a->bitset | $b->bitset, $a->bitset & $b->bitset, true, true], [$both->bitset, $common->bitset, $both->add('only here'), $common->add('only here')]);
same([$bits, true], [[$a->bitset, $b->bitset], $a->union($a)->equals($a)]);

# equals compares m, k, scheme and bits; n and p do not matter.
$a = new BloomFilter(1024, 100, 4); $b = new BloomFilter(1024, 50, 4);
same(true, $a->equals($b));
$a->add('x');
same([false, false], [$a->equals($b), $b->equals($a)]);
$b->add('x');
same([true, true, true], [$a->equals($b), $b->equals($a), $a->equals($a)]);
same([false, false], [$a->equals(new BloomFilter(1023, 100, 4)), $a->equals(new BloomFilter(1024, 100, 3))]);
--EXPECT--
