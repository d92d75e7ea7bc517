--TEST--
A filter of ten keys is few bytes: toBytes, serialize, a file with such an image
--FILE--
<?php require __DIR__ . '/helpers.inc';
foreach ([0.01, 1e-6] as $p) {
    $f = new BloomFilter(n: 10, p: $p);
    $f->addMany(urls(10));
    $bytes = $f->toBytes();
    same([64 + strlen($f->bitset), true], [strlen($bytes), strlen($bytes) < 200]);
    same(true, strlen(serialize($f)) < 300);
    same(true, unserialize(serialize($f))->equals($f));
    for ($at = 0; $at < strlen($bytes); $at++) {
        $damaged = $bytes;
        $damaged[$at] = chr(ord($bytes[$at]) ^ 3);
        refused('BloomFilterException', '', fn() => BloomFilter::fromBytes($damaged));
        refused('BloomFilterException', '', fn() => BloomFilter::fromBytes(substr($bytes, 0, $at)));
    }
}
$counting = new CountingBloomFilter(n: 10, p: 0.01);
$counting->addMany(['a', 'a', 'b']);
same(2, CountingBloomFilter::fromBytes($counting->toBytes())->countOf('a'));
same(true, strlen($counting->toBytes()) < 400);
$grows = new BloomFilter(n: 10, p: 0.01, grow: 2.0);
$grows->addMany(urls(10));
same([true, 10], [strlen($grows->toBytes()) < 300, array_sum(unserialize(serialize($grows))->existMany(urls(10)))]);

$path = folder() . '/small.bloom';
new_file($path, $bytes);
same(true, BloomFilter::load($path)->equals($f));
same(strlen($bytes), filesize($path));
foreach ([true, false] as $readOnly)     // it cannot be mapped
    refused('BloomFilterException', 'has a compact header and cannot be mapped: use load(), or convert it with bloomfilter convert',
        fn() => BloomFilter::open($path, readOnly: $readOnly));
same($bytes, file_get_contents($path));
BloomFilter::load($path)->save($path);
clearstatcache();
same(4096 + strlen($f->bitset), filesize($path));
same(true, BloomFilter::open($path, readOnly: true)->equals($f));
--EXPECT--
