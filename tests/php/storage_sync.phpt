--TEST--
sync
--FILE--
<?php require __DIR__ . '/helpers.inc';
# sync returns once the file is on disk.
$path = folder() . '/a.bloom';
$f = new BloomFilter(n: 1000, p: 0.01, storage: $path);
same(null, $f->sync());
$f->addMany(urls(100));
same([null, null, null], [$f->sync(), $f->sync(), BloomFilter::open($path, readOnly: true)->sync()]);
same(substr(file_get_contents($path), 4096), $f->bitset);

# sync of a filter in memory has nothing to do.
same(null, (new BloomFilter(100, 10))->sync());
--EXPECT--
