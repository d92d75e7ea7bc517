--TEST--
What is refused for a closed file is refused for one that is kept open
--FILE--
<?php require __DIR__ . '/helpers.inc';
$path = folder() . '/a.bloom';
$kept = new BloomFilter(n: 1000, p: 0.01, storage: $path);
foreach (['key' => ['key' => 'x'], 'grow' => ['grow' => 2.0], 'window' => ['window' => 60.0], 'shards' => ['shards' => 4]] as $part => $more)
    foreach ([[], ['n' => 1000, 'p' => 0.01]] as $arguments)
        refused($part === 'key' ? 'ValueError' : 'BloomFilterException', "$part=", fn() => new BloomFilter(...$arguments, ...$more, storage: $path));
refused('ValueError', 'key=x', fn() => BloomFilter::open($path, key: 'x'));
same(true, (new BloomFilter(n: 1000, p: 0.01, shards: 1, storage: $path))->equals($kept));
--EXPECT--
