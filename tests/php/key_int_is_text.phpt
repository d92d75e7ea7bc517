--TEST--
An int is its decimal text: 42 and "42" are one key
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
foreach ([0, 42, -1, 7000000000, PHP_INT_MAX, PHP_INT_MIN] as $key) {
    $f = new BloomFilter(m: 1 << 20, k: 8);
    $f->add($key);
    same([true, true, false], [$f->exists((string)$key), $f->exists($key), $f->add((string)$key)], "$key");
    same($f->hashcode("$key"), $f->hashcode($key));
    same([true, true], $f->existMany([$key, "$key"]));
}
same(false, $f->exists(' -9223372036854775808'));
echo "done\n";
?>
--EXPECT--
done
