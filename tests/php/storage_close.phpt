--TEST--
After close the object is of no use, and the file is as it was
--FILE--
<?php require __DIR__ . '/helpers.inc';
$path = folder() . '/a.bloom';
$f = new BloomFilter(n: 1000, p: 0.01, storage: $path);
$f->add('a');
same([null, null], [$f->close(), $f->close()]);
foreach ([fn() => $f->add('b'), fn() => $f->exists('a'), fn() => $f->addMany(['b']), fn() => $f->existMany(['a']), fn() => count($f), fn() => $f->sync(), fn() => $f->clear(),
          fn() => serialize($f), fn() => clone $f, fn() => $f->bitset, fn() => BloomFilter::open($path)->equals($f)] as $call)
    refused('BloomFilterException', 'closed', $call);
same([1000, 0.01], [$f->n, $f->p]);
same([true, false], [BloomFilter::open($path)->exists('a'), BloomFilter::open($path)->exists('b')]);
$g = BloomFilter::open($path);
same([true, 2], [$g->exists('a'), $g->addMany((function () use ($g) { yield 'c'; BloomFilter::open($GLOBALS['path'])->close(); yield 'd'; })())]);
refused('BloomFilterException', 'closed', fn() => $g->addMany((function () use ($g) { yield 'e'; $g->close(); yield 'f'; })()));
--EXPECT--
