--TEST--
toBytes and fromBytes carry everything, small filters in few bytes, which load() reads and open() refuses; other systems' formats
--FILE--
<?php require __DIR__ . '/helpers.inc';
foreach ([['classic', 1003, 7], ['classic', 1, 1], ['classic', 32704, 3], ['classic', 32705, 3], ['block', 5120, 8], ['block2', 5120, 9]] as [$scheme, $m, $k]) {
    $f = new BloomFilter($m, 77, $k, scheme: $scheme);
    $f->addMany(urls(50));
    $bytes = $f->toBytes();
    $g = BloomFilter::fromBytes($bytes);
    same(['BloomFilter', $m, 77, $k, $f->p, $scheme], [get_class($g), $g->m, $g->n, $g->k, $g->p, $g->scheme]);
    same([true, true], [$f->equals($g), $bytes === $g->toBytes()], $scheme);
    $head = $m < 32705 ? 64 : 4096; // less than 4 KiB of bits have no header page
    same($head + intdiv($m + 63, 64) * 8, strlen($bytes));
    same(true, str_starts_with(substr($bytes, $head), $f->bitset), 'the bits begin after the header');
    same(true, $g->add('more') && BloomFilter::fromBytes($g->toBytes())->exists('more') || $m === 1);
    foreach (['bits', 'bits-lsb'] as $format)
        same(true, BloomFilter::fromBytes($f->toBytes($format), format: $format, m: $m, n: 77, k: $k, scheme: $scheme)->equals($f), "$scheme $format");
}
$f = new BloomFilter(n: 10, p: 0.01);
$f->addMany(urls(10));
$bytes = $f->toBytes();
same([true, true], [strlen($bytes) < 200, strlen(serialize($f)) < 300]);
for ($at = 0; $at < strlen($bytes); $at++) {
    $damaged = $bytes;
    $damaged[$at] = chr(ord($bytes[$at]) ^ 3);
    refused('BloomFilterException', '', fn() => BloomFilter::fromBytes($damaged));
    refused('BloomFilterException', '', fn() => BloomFilter::fromBytes(substr($bytes, 0, $at)));
}
$grows = new BloomFilter(n: 10, p: 0.01, grow: 2.0);
$grows->addMany(urls(10));
same([true, 10], [strlen($grows->toBytes()) < 300, array_sum(unserialize(serialize($grows))->existMany(urls(10)))]);

$path = folder() . '/small.bloom';
new_file($path, $bytes);
same([true, strlen($bytes)], [BloomFilter::load($path)->equals($f), filesize($path)]);
foreach ([true, false] as $readOnly)     // it cannot be mapped
    refused('BloomFilterException', 'has a compact header and cannot be mapped: use load(), or convert it with bloomfilter convert', fn() => BloomFilter::open($path, readOnly: $readOnly));
chdir(dirname($path));
same(null, BloomFilter::load('./small.bloom')->save('small.bloom'));
clearstatcache();
same([['small.bloom'], 4096 + strlen($f->bitset), true], [names_in('.'), filesize($path), BloomFilter::open($path, readOnly: true)->equals($f)]);
chdir('/');
--EXPECT--
