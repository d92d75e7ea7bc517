--TEST--
Positions: hashcode, and the bits that a key sets
--FILE--
<?php require __DIR__ . '/helpers.inc';
# The positions are those of the published formulas, computed here a second time.
$keys = ['', 'a', "\0", 'key', '42', 'https://www.example.org/', str_repeat('x', 17), str_repeat('long ', 60), "\xff\x00\xfe"];
foreach ([['classic', 1000, 7], ['classic', 1, 1], ['classic', 999_983, 20], ['classic', 2 ** 26 + 1, 13], ['block', 512, 8], ['block', 51_200, 1],
          ['block', 5_120_000, 6], ['block', 10_240, 16], ['block2', 1024, 2], ['block2', 102_400, 7], ['block2', 1_024_000, 19], ['block2', 5120, 32]] as [$scheme, $m, $k]) {
    $f = new BloomFilter(m: $m, k: $k, scheme: $scheme);
    foreach ($keys as $key) same(expected_positions($f, word(hash('xxh3', $key))), $f->hashcode($key), "$scheme m=$m k=$k " . bin2hex(substr($key, 0, 20)));
}

# Exactly the bits of hashcode are set, bit i in byte i/8 under the mask 0x80 >> (i % 8).
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

# addKey, existKey and hashcode are the classic names.
$f = new BloomFilter(10, 2);
same([true, false, true], [$f->addKey('key'), $f->addKey('key'), $f->existKey('key')]);
same(4, count($f->hashcode('key')));
foreach ($f->hashcode('key') as $position) same(true, is_int($position) && $position >= 0 && $position < 10);
same(true, array_is_list($f->hashcode('key')));
--EXPECT--
