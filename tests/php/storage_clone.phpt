--TEST--
clone is a copy in memory
--FILE--
<?php require __DIR__ . '/helpers.inc';
$path = folder() . '/a.bloom';
$f = new BloomFilter(n: 1000, p: 0.01, storage: $path);
$f->addMany(urls(100));
$g = clone $f;
same([true, $f->m, $f->p, ['bytes']], [$g->equals($f), $g->m, $g->p, array_keys($g->__serialize())]);
same([true, false, true, false], [$g->add('mine'), $f->exists('mine'), $f->add('theirs'), $g->exists('theirs')]);
$g->close();
same(true, $f->exists('theirs'));
$g = clone $f;
$f->close();
unlink($path);
same([100, true, true], [array_sum($g->existMany(urls(100))), $g->exists('theirs'), (clone BloomFilter::fromBytes($g->toBytes()))->equals($g)]);
--EXPECT--
