--TEST--
sync returns once the file is on disk
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$path = folder() . '/a.bloom';
$f = new BloomFilter(n: 1000, p: 0.01, storage: $path);
same(null, $f->sync());
$f->addMany(urls(100));
same([null, null, null], [$f->sync(), $f->sync(), BloomFilter::open($path, readOnly: true)->sync()]);
same(substr(file_get_contents($path), 4096), $f->bitset);
echo "done\n";
?>
--EXPECT--
done
