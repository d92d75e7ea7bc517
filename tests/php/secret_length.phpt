--TEST--
A secret has 16 bytes
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
foreach (['', 'short', str_repeat('x', 15), str_repeat('x', 17)] as $secret)
    refused('ValueError', 'secret must be 16 bytes, got ' . strlen($secret), fn() => new BloomFilter(1000, 10, secret: $secret));
refused('ValueError', 'secret', fn() => BloomFilter::fromBytes((new BloomFilter(1000, 10))->toBytes(), 'short'));
echo "done\n";
?>
--EXPECT--
done
