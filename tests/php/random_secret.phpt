--TEST--
randomSecret() gives 16 new bytes, which key a filter
--FILE--
<?php require __DIR__ . '/helpers.inc';
$secret = BloomFilter::randomSecret();
same(16, strlen($secret));
same(false, $secret === BloomFilter::randomSecret());
$filter = new BloomFilter(n: 100, p: 0.01, secret: $secret);
same(true, $filter->add('a'));
same(true, BloomFilter::fromBytes($filter->toBytes(), secret: $secret)->exists('a'));
--EXPECT--
