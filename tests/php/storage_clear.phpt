--TEST--
clear forgets the keys for everybody
--FILE--
<?php require __DIR__ . '/helpers.inc';
$path = folder() . '/a.bloom';
$f = new BloomFilter(n: 1000, p: 0.01, storage: $path);
$g = BloomFilter::open($path);
$f->addMany(urls(1000));
same([null, 0, 0], [$g->clear(), count($f), array_sum($f->existMany(urls(1000)))]);
same(['0', 1000], [in_other_php('echo count(BloomFilter::open(' . var_export($path, true) . '));'), BloomFilter::open($path)->n]);
same([true, true], [$f->add('a'), $g->exists('a')]);
--EXPECT--
