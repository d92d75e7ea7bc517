--TEST--
The positions are those of the published formulas, computed here a second time
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$keys = ['', 'a', "\0", 'key', '42', 'https://www.example.org/', str_repeat('x', 17), str_repeat('long ', 60), "\xff\x00\xfe"];
foreach ([['classic', 1000, 7], ['classic', 1, 1], ['classic', 999_983, 20], ['classic', 2 ** 26 + 1, 13], ['block', 512, 8], ['block', 51_200, 1],
          ['block', 5_120_000, 6], ['block', 10_240, 16], ['block2', 1024, 2], ['block2', 102_400, 7], ['block2', 1_024_000, 19], ['block2', 5120, 32]] as [$scheme, $m, $k]) {
    $f = new BloomFilter(m: $m, k: $k, scheme: $scheme);
    foreach ($keys as $key) same(expected_positions($f, word(hash('xxh3', $key))), $f->hashcode($key), "$scheme m=$m k=$k " . bin2hex(substr($key, 0, 20)));
}
echo "done\n";
?>
--EXPECT--
done
