--TEST--
Positions: hashcode, and the bits that a key sets
--FILE--
<?php require __DIR__ . '/helpers.inc';
# The positions are those of the formulas, keyed too (scripts/gen-vectors).
$filters = [];
foreach (file(__DIR__ . '/../vectors/native.jsonl') as $line) {
    $v = json_decode($line, true);
    if (!isset($v['scheme'])) continue;
    $id = "$v[scheme] $v[m] $v[k] $v[secret]";
    if (!isset($filters[$id])) $filters = [$id => new BloomFilter(m: $v['m'], k: $v['k'], scheme: $v['scheme'], secret: $v['secret'] === '' ? null : hex2bin($v['secret']))];
    same($v['positions'], $filters[$id]->hashcode(hex2bin($v['key'])), $line);
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
