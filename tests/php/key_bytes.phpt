--TEST--
Keys are bytes: nothing is decoded or normalized
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$f = new BloomFilter(m: 1 << 20, k: 8);
foreach (["\xff\xfe", "caf\u{e9}", "cafe\u{301}", "\xed\xa0\x80", 'A', 'a ', ' a'] as $key) same([true, true], [$f->add($key), $f->exists($key)]);
same(false, $f->exists('a'));
echo "done\n";
?>
--EXPECT--
done
