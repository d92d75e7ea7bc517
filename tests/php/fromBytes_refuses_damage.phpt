--TEST--
Truncated, over-long, damaged and foreign bytes are exceptions
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$f = new BloomFilter(4096, 100);
$f->addMany(urls(100));
$bytes = $f->toBytes();
foreach (['', 'x', str_repeat("\0", 4096), str_repeat('BLOOM', 2000), random_bytes(5000), substr($bytes, 0, 63), substr($bytes, 0, 64), substr($bytes, 0, -1),
          $bytes . "\0", $bytes . $bytes, ' ' . $bytes, substr($bytes, 1)] as $bad)
    refused('BloomFilterException', 'the data', fn() => BloomFilter::fromBytes($bad));
for ($i = 0; $i < strlen($bytes); $i++) {
    $bad = $bytes;
    $bad[$i] = chr(ord($bad[$i]) ^ 1 << $i % 8);
    try { BloomFilter::fromBytes($bad); echo "byte $i flipped, and nobody saw it\n"; }
    catch (BloomFilterException $e) { same(BloomFilterException::FORMAT, $e->getCode(), "byte $i: {$e->getMessage()}"); }
}
refused('TypeError', '$bytes', fn() => BloomFilter::fromBytes([]));
echo "done\n";
?>
--EXPECT--
done
