--TEST--
Exactly the bits of hashcode are set, bit i in byte i/8 under the mask 0x80 >> (i % 8)
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
foreach ([['classic', 1003, 7], ['classic', 7, 3], ['block', 1024, 8], ['block2', 4096, 11]] as [$scheme, $m, $k]) {
    $f = new BloomFilter(m: $m, k: $k, scheme: $scheme);
    $expected = [];
    foreach (['a', 'b', 42] as $key) {
        $f->add($key);
        $expected = array_unique([...$expected, ...$f->hashcode($key)]);
    }
    sort($expected);
    same($expected, positions_of($f->bitset), $scheme);
}
echo "done\n";
?>
--EXPECT--
done
