--TEST--
A clone is a copy: adding to one does not change the other
--FILE--
<?php require __DIR__ . '/helpers.inc';
$a = new BloomFilter(n: 1000, p: 0.001);
$a->addMany(urls(500));
$b = clone $a;
same([true, $a->m, $a->n, $a->k, $a->p, $a->scheme], [$a->equals($b), $b->m, $b->n, $b->k, $b->p, $b->scheme]);
$b->add('only b'); $a->add('only a');
same([false, true, true, false], [$a->exists('only b'), $b->exists('only b'), $a->exists('only a'), $b->exists('only a')]);
$a->close();
same(true, $b->exists('only b'));
unset($a);
same(500, count(array_filter($b->existMany(urls(500)))));
--EXPECT--
