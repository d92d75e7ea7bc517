--TEST--
bloomfilter.max_maps=0 keeps nothing
--INI--
bloomfilter.max_maps=0
--FILE--
<?php require __DIR__ . '/helpers.inc';
$path = folder() . '/a.bloom';
$f = new BloomFilter(n: 100, p: 0.01, storage: $path);
$g = BloomFilter::open($path);
same([true, true, 0], [$f->add('a'), $g->exists('a'), kept()]);
$f->close();
same([true, true], [$g->exists('a'), BloomFilter::open($path)->exists('a')]);
unset($g);
# so that even a file that was written in place is read anew
file_put_contents($path, saved(new BloomFilter(m: 33, n: 3)));
same(33, BloomFilter::open($path)->m);
--EXPECT--
