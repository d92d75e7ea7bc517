--TEST--
A key of 16 MiB is a key
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$f = new BloomFilter(m: 1 << 20, k: 8);
$long = str_repeat('0123456789abcdef', 1 << 20);
same([true, false, true], [$f->add($long), $f->add($long), $f->exists($long)]);
$long[9_999_999] = 'x';
same([false, [false]], [$f->exists($long), $f->existMany([$long])]);
echo "done\n";
?>
--EXPECT--
done
