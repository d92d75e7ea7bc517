--TEST--
bitset, count, fillRatio and fpr say what the bits are; clear() forgets them, a clone has its own
--INI--
bloomfilter.warn=0
--FILE--
<?php require __DIR__ . '/helpers.inc';
# ceil(m/8) bytes, copied at each read
foreach ([1 => 1, 7 => 1, 8 => 1, 9 => 2, 1000 => 125, 1001 => 126] as $m => $bytes) {
    $f = new BloomFilter(m: $m, k: 2);
    same([str_repeat("\0", $bytes), 0.0, 0.0, 0, 0], [$f->bitset, $f->fillRatio(), $f->fpr(), count($f), $f->count()]);
    $f->addMany(urls(3));
    same((float)(count(positions_of($f->bitset)) / $m), $f->fillRatio());
    $f->addMany(urls(10_000));
    same([$m, 1.0, 1.0], [count(positions_of($f->bitset)), $f->fillRatio(), $f->fpr()], "all m bits and not one more: m=$m");
    if ($m > 1) same(true, count($f) > 0 && count($f) < PHP_INT_MAX);
}
$f = new BloomFilter(m: 64, k: 1);
$before = $f->bitset;
$f->add('a');
same([false, true, true, false], [$before === $f->bitset, isset($f->bitset), property_exists($f, 'bitset'), empty($f->bitset)]);
$name = 'bitset';
same([$f->bitset, 8], [$f->$name, strlen($f->bitset ?? 'none')]);

$f = new BloomFilter(n: 10_000, p: 0.01);
$f->addMany(urls(10_000));
$copy = clone $f;
same([true, $f->m, $f->n, $f->k, $f->p, $f->scheme], [$copy->equals($f), $copy->m, $copy->n, $copy->k, $copy->p, $copy->scheme]);
same([null, 0, 0.0, 0, true], [$f->clear(), count($f), $f->fillRatio(), array_sum($f->existMany(urls(10))), $f->add('only f')]);
same([10_000, true, false], [array_sum($copy->existMany(urls(10_000))), $copy->add('only the copy') || true, $f->exists('only the copy')]);
$f->close();
same(true, $copy->exists('only the copy'));
--EXPECT--
