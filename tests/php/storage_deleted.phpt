--TEST--
A deleted file lives on for those who have it open, and only for them
--FILE--
<?php require __DIR__ . '/helpers.inc';
$path = folder() . '/a.bloom';
$f = new BloomFilter(n: 1000, p: 0.01, storage: $path);
$f->add('old');
unlink($path);
same([true, 1000], [$f->exists('old'), $f->n]);
refused('BloomFilterException', 'replaced or deleted', fn() => $f->addMany(['more']));
refused('BloomFilterException', 'replaced or deleted', fn() => $f->sync());
refused('BloomFilterException', 'No such file', fn() => BloomFilter::open($path));
same(0, kept());
$g = new BloomFilter(n: 500, p: 0.02, storage: $path);
same([true, false, 500], [$f->exists('old'), $g->exists('old'), BloomFilter::open($path)->n]);
unlink($path);
unset($f, $g);
$h = new BloomFilter(n: 1000, p: 0.01, storage: $path);
same([0, ['a.bloom']], [count($h), names_in(dirname($path))]);
--EXPECT--
