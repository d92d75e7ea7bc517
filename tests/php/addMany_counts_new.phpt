--TEST--
addMany returns how many keys were surely new
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$f = new BloomFilter(n: 1000, p: 1e-6);
same([3, 1, 0, 0], [$f->addMany(['a', 'b', 'c']), $f->addMany(['b', 'd']), $f->addMany(['a', 'd']), $f->addMany([])]);
same([2, 1], [$f->addMany(['x', 'x', 'y', 'y', 'x']), $f->addMany([42, '42', 42])]);
same([true, true, false], $f->existMany(['a', '42', 'z']));
same(['k1' => true, 'k2' => true], $f->existMany(['k1' => 'a', 'k2' => 'b']));
echo "done\n";
?>
--EXPECT--
done
