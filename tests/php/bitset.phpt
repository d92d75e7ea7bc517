--TEST--
bitset is ceil(m/8) bytes, copied at each read
--INI--
bloomfilter.warn=0
--FILE--
<?php require __DIR__ . '/helpers.inc';
foreach ([1 => 1, 7 => 1, 8 => 1, 9 => 2, 1000 => 125, 1001 => 126] as $m => $bytes) {
    $f = new BloomFilter(m: $m, k: 2);
    same(str_repeat("\0", $bytes), $f->bitset);
    $f->addMany(urls(10_000));
    same($m, count(positions_of($f->bitset)), "all m bits and not one more: m=$m");
}
$f = new BloomFilter(m: 64, k: 1);
$before = $f->bitset;
$f->add('a');
same([false, true, true, false], [$before === $f->bitset, isset($f->bitset), property_exists($f, 'bitset'), empty($f->bitset)]);
$name = 'bitset';
same($f->bitset, $f->$name);
same(8, strlen($f->bitset ?? 'none'));
--EXPECT--
