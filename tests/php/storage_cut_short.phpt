--TEST--
A file that somebody cut short while it was open is an exception at the next call that looks
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
foreach ([0, 100, 4096, 8192, -1] as $length) {
    $path = "$dir/cut $length";
    $f = new BloomFilter(m: 1_000_000, n: 100_000, storage: $path);
    $other = BloomFilter::open($path);
    $memory = clone $f;
    $f->addMany(urls(10));
    $size = $length < 0 ? filesize($path) + $length : $length;
    ftruncate(fopen($path, 'r+'), $size);
    foreach ([fn() => $f->addMany(['a']), fn() => $f->existMany(['a']), fn() => $f->addNew(['a']), fn() => $f->sync(), fn() => $f->clear(), fn() => count($f), fn() => $f->fpr(),
              fn() => $f->fillRatio(), fn() => $f->toBytes(), fn() => $f->bitset, fn() => clone $f, fn() => $f->union($memory), fn() => $memory->intersect($f), fn() => $f->equals($memory),
              fn() => $f->save("$dir/saved"), fn() => $other->existMany(['a'])] as $i => $call)
        refused('BloomFilterException', "$size bytes", $call);
    refused('BloomFilterException', "$size", fn() => BloomFilter::open($path));
    refused('BloomFilterException', "$size", fn() => new BloomFilter(m: 1_000_000, n: 100_000, storage: $path));
    same([$size, 1_000_000, 0], [strlen(file_get_contents($path)), $f->m, kept()]);
    same([null, null], [$f->close(), $other->close()]);
}
same(5, count(names_in($dir)));
--EXPECT--
