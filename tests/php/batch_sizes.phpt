--TEST--
Batches of every size around the chunk limits do what single calls do
--FILE--
<?php require __DIR__ . '/helpers.inc';
foreach (['classic', 'block', 'block2'] as $scheme)
    foreach ([1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000] as $size) {
        $many = new BloomFilter(n: $size, p: 0.01, scheme: $scheme);
        $one = new BloomFilter(n: $size, p: 0.01, scheme: $scheme);
        $iterated = new BloomFilter(n: $size, p: 0.01, scheme: $scheme);
        $fresh = new BloomFilter(n: $size, p: 0.01, scheme: $scheme);
        $keys = urls($size);
        $new = array_filter($keys, fn($key) => $one->add($key));
        same(count($new), $many->addMany($keys), "$scheme $size");
        same(count($new), $iterated->addMany(new ArrayIterator($keys)), "$scheme $size");
        same($new, $fresh->addNew($keys), "$scheme $size");
        same([true, true, true], [$one->equals($many), $one->equals($iterated), $one->equals($fresh)], "$scheme $size");
        $probes = urls(2 * $size, 'a');
        same(array_map(fn($key) => $one->exists($key), $probes), $many->existMany($probes), "$scheme $size");
    }
--EXPECT--
