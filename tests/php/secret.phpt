--TEST--
Keyed filters
--FILE--
<?php require __DIR__ . '/helpers.inc';
# A keyed filter has its own positions and opens with its secret only.
$secret = str_repeat('k', 16); $other = str_repeat('o', 16);
$f = new BloomFilter(n: 1000, p: 1e-6, secret: $secret);
$plain = new BloomFilter(n: 1000, p: 1e-6);
$f->addMany(urls(100)); $plain->addMany(urls(100));
same([100, false], [count(array_filter($f->existMany(urls(100)))), $f->bitset === $plain->bitset]);
same(false, $f->hashcode('a') === (new BloomFilter(n: 1000, p: 1e-6, secret: $other))->hashcode('a'));
$bytes = $f->toBytes();
same(false, str_contains($bytes, $secret));
same(true, BloomFilter::fromBytes($bytes, $secret)->equals($f));
same(true, (clone $f)->union($f)->exists(urls(1)[0]));
refused('BloomFilterException', 'secret', fn() => BloomFilter::fromBytes($bytes));
refused('BloomFilterException', 'secret', fn() => BloomFilter::fromBytes($bytes, secret: $other));
refused('BloomFilterException', 'secret', fn() => BloomFilter::fromBytes($plain->toBytes(), $secret));
$path = folder() . '/keyed.bloom';
$f->save($path);
same(true, BloomFilter::load($path, $secret)->equals($f));
refused('BloomFilterException', 'secret', fn() => BloomFilter::load($path));

# A secret has 16 bytes.
foreach (['', 'short', str_repeat('x', 15), str_repeat('x', 17)] as $secret)
    refused('ValueError', 'secret must be 16 bytes, got ' . strlen($secret), fn() => new BloomFilter(1000, 10, secret: $secret));
refused('ValueError', 'secret', fn() => BloomFilter::fromBytes((new BloomFilter(1000, 10))->toBytes(), 'short'));

# A keyed filter cannot be serialized: its secret is never stored.
$f = new BloomFilter(1000, 10, secret: str_repeat('k', 16));
refused('BloomFilterException', 'a keyed filter cannot be serialized', fn() => serialize($f));
try { serialize($f); } catch (BloomFilterException $e) { same(BloomFilterException::NOT_SUPPORTED, $e->getCode()); }
--EXPECT--
