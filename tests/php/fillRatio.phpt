--TEST--
fillRatio is the share of bits set
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$f = new BloomFilter(m: 1000, k: 5);
same(0.0, $f->fillRatio());
$f->addMany(urls(50));
same(count(positions_of($f->bitset)) / 1000, $f->fillRatio());
$f = new BloomFilter(m: 7, k: 7);
$f->addMany(urls(1000));
same([1.0, 1.0], [$f->fillRatio(), $f->fpr()]);
echo "done\n";
?>
--EXPECT--
done
