--TEST--
addHashes() and existHashes(): the vectors, every home and kind, and what is refused
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$f = null;
foreach (file(__DIR__ . '/../vectors/hashes64.txt', FILE_IGNORE_NEW_LINES) as $line) {
    $line = explode(' ', $line);
    if ($line[0] === '=') {
        $f = new BloomFilter(m: (int) $line[2], k: (int) $line[3], scheme: $line[1]);
        [$want, $rows] = [str_repeat("\0", strlen($f->bitset)), ($rows ?? 0) + 1];
        continue;
    }
    $before = $want;
    foreach (array_slice($line, 1) as $at) $want[$at >> 3] = $want[$at >> 3] | chr(0x80 >> ($at & 7));
    $hash = strrev(hex2bin($line[0]));
    same((int) ($before !== $want), $f->addHashes($hash), implode(' ', $line));
    same([true], $f->existHashes($hash));
    same(true, $f->bitset === $want, "$f->scheme $line[0]");
}
same(8, $rows);

$hashes = pack('P*', ...array_map(fn($i) => crc32($i) << 32 | crc32("-$i"), range(1, 600)));
$path = folder() . '/hashes.bloom';
foreach ([['n' => 1000, 'p' => 0.01], ['n' => 1000, 'p' => 1e-6], ['m' => 50000, 'k' => 3], ['n' => 100, 'p' => 1e-6, 'grow' => 2.0],
    ['n' => 1000, 'p' => 1e-6, 'overfull' => 'raise']] as $i => $size) {
    $f = new BloomFilter(...$size, scheme: 'hashes64');
    same('hashes64-' . ['block', 'block2', 'classic', 'block2', 'block2'][$i], $f->scheme);
    $new = $f->addHashes($hashes . $hashes);
    same(true, $new >= 595 && $new <= 600);
    same(array_fill(0, 600, true), $f->existHashes($hashes));
    same([0, []], [$f->addHashes(''), $f->existHashes('')]);
    same(false, $f->existHashes(pack('P', 42))[0]);
    $f->save($path);
    same(true, BloomFilter::load($path)->equals($f));
    same($f->scheme, BloomFilter::open($path, readOnly: true)->scheme);
    foreach (['add', 'exists', 'hashcode'] as $call) refused('ValueError', 'add_hashes', fn() => $f->$call('key'));
    foreach (['addMany', 'existMany', 'addNew'] as $call) refused('ValueError', 'add_hashes', fn() => $f->$call(['key']));
    if (!isset($size['grow']))
        foreach ([[], ['key'], new EmptyIterator] as $none) refused('ValueError', 'add_hashes', fn() => $f->rebuild($none));
    same(array_fill(0, 600, true), $f->existHashes($hashes));
}
$f = new CountingBloomFilter(n: 1000, p: 1e-6, scheme: 'hashes64');
same([600, 0], [$f->addHashes($hashes), $f->addHashes($hashes)]);
$keys = new BloomFilter(n: 100, p: 0.01);
foreach (['addHashes', 'existHashes'] as $call) {
    refused('ValueError', '8 bytes', fn() => $f->$call('1234567'));
    refused('ValueError', 'hashes64', fn() => $keys->$call('12345678'));
}
refused('ValueError', 'keyed', fn() => new BloomFilter(n: 100, p: 0.01, scheme: 'hashes64', secret: str_repeat('x', 16)));
$f = new BloomFilter(n: 10, p: 1e-6, scheme: 'hashes64', overfull: 'raise');
try {
    $f->addHashes($hashes);
} catch (BloomFilterException $e) {
    same([BloomFilterException::FULL, 10], [$e->getCode(), $e->index]);
}
same(10, array_sum($f->existHashes($hashes)));
echo "done\n";
--EXPECT--
done
