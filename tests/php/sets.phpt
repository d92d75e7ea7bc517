--TEST--
union, intersect and equals
--FILE--
<?php require __DIR__ . '/helpers.inc';
# union is a new filter with the keys of both.
$a = new BloomFilter(n: 1000, p: 1e-6); $b = new BloomFilter(n: 1000, p: 1e-6);
$a->addMany(urls(200, 'a')); $b->addMany(urls(200, 'b'));
$both = $a->union($b);
same([200, 200], [count(array_filter($both->existMany(urls(200, 'a')))), count(array_filter($both->existMany(urls(200, 'b'))))]);
same(true, ($a->bitset | $b->bitset) === $both->bitset);
same([0, 0], [count(array_filter($a->existMany(urls(200, 'b')))), count(array_filter($b->existMany(urls(200, 'a'))))]);
$both->add('only here');
same([false, false], [$a->exists('only here'), $b->exists('only here')]);
same(true, $a->union($a)->equals($a));

# intersect is a new filter with the bits of both.
$a = new BloomFilter(n: 1000, p: 1e-6); $b = new BloomFilter(n: 1000, p: 1e-6);
$a->addMany([...urls(100, 'a'), ...urls(100, 'common')]);
$b->addMany([...urls(100, 'b'), ...urls(100, 'common')]);
$both = $a->intersect($b);
same(100, count(array_filter($both->existMany(urls(100, 'common')))));
same(true, ($a->bitset & $b->bitset) === $both->bitset);
same(true, count(array_filter($both->existMany(urls(100, 'a')))) < 5);
same(100, count(array_filter($a->existMany(urls(100, 'a')))));

# equals compares m, k, scheme and bits; n and p do not matter.
$a = new BloomFilter(1024, 100, 4); $b = new BloomFilter(1024, 50, 4);
same(true, $a->equals($b));
$a->add('x');
same([false, false], [$a->equals($b), $b->equals($a)]);
$b->add('x');
same([true, true, true], [$a->equals($b), $b->equals($a), $a->equals($a)]);
same([false, false], [$a->equals(new BloomFilter(1023, 100, 4)), $a->equals(new BloomFilter(1024, 100, 3))]);
--EXPECT--
