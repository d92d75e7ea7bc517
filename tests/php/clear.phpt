--TEST--
clear forgets all keys
--FILE--
<?php require __DIR__ . '/helpers.inc';
$f = new BloomFilter(n: 1000, p: 0.01);
$f->addMany(urls(1000));
same(null, $f->clear());
same([0, 0.0, 0, true], [count($f), $f->fillRatio(), count(array_filter($f->existMany(urls(1000)))), $f->add('a')]);
same(true, $f->equals((function () { $g = new BloomFilter(n: 1000, p: 0.01); $g->add('a'); return $g; })()));
--EXPECT--
