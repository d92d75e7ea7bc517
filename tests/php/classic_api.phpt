--TEST--
addKey, existKey and hashcode are the classic names
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$f = new BloomFilter(10, 2);
same([true, false, true], [$f->addKey('key'), $f->addKey('key'), $f->existKey('key')]);
same(4, count($f->hashcode('key')));
foreach ($f->hashcode('key') as $position) same(true, is_int($position) && $position >= 0 && $position < 10);
same(true, array_is_list($f->hashcode('key')));
echo "done\n";
?>
--EXPECT--
done
