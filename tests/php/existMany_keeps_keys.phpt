--TEST--
existMany answers under the array keys it was given
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$f = new BloomFilter(n: 1000, p: 1e-6);
$f->addMany(['a', 'b']);
same(['x' => true, 'y' => false, 9 => true], $f->existMany(['x' => 'a', 'y' => 'c', 9 => 'b']));
same([true, false, true], $f->existMany(['a', 'c', 'b']));
same([], $f->existMany([]));
$list = $f->existMany(['a', 'b']);
$list[] = 'appended';
same([true, true, 'appended'], $list);
same(2, count($f));
echo "done\n";
?>
--EXPECT--
done
