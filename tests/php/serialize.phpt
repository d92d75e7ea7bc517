--TEST--
serialize and unserialize keep parameters and keys
--FILE--
<?php require __DIR__ . '/helpers.inc';
$f = new BloomFilter(n: 1000, p: 0.001);
$f->addMany(urls(1000));
$g = unserialize(serialize($f));
same([true, $f->m, $f->n, $f->k, $f->p, $f->scheme], [$f->equals($g), $g->m, $g->n, $g->k, $g->p, $g->scheme]);
same(1000, count(array_filter($g->existMany(urls(1000)))));
$g->add('more');
same([false, true], [$f->exists('more'), $g->exists('more')]);
$two = unserialize(serialize([$f, 'again' => $f]));
same(true, $two[0] === $two['again']);
same(true, unserialize(serialize($g))->exists('more'));
same(['bytes'], array_keys($f->__serialize()));
--EXPECT--
