--TEST--
The empty key is a key, and NUL bytes belong to a key
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$f = new BloomFilter(m: 1 << 20, k: 8);
same([false, true, true], [$f->exists(''), $f->add(''), $f->exists('')]);
foreach (["\0", "\0\0", "a\0", "a\0b", "a"] as $key) same([false, true, true], [$f->exists($key), $f->add($key), $f->exists($key)]);
same([true, true, true, false], $f->existMany(['', "\0\0", "a\0b", "a\0c"]));
echo "done\n";
?>
--EXPECT--
done
