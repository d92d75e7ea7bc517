--TEST--
A file without the right to write is read; adding is an exception until the right is there
--FILE--
<?php require __DIR__ . '/helpers.inc';
$path = folder() . '/a.bloom';
$f = new BloomFilter(n: 1000, p: 0.01);
$f->addMany(urls(100));
$f->save($path);
chmod($path, 0444);
$before = sha1_file($path);
foreach ([fn() => BloomFilter::open($path), fn() => new BloomFilter(n: 1000, p: 0.01, storage: $path), fn() => BloomFilter::open($path, readOnly: true)] as $open) {
    $g = $open();
    same([true, false, 100], [$g->exists(urls(1)[0]), $g->exists('other'), array_sum($g->existMany(urls(100)))]);
    foreach ([fn() => $g->add('new'), fn() => $g->add(urls(1)[0]), fn() => $g->addMany(['new']), fn() => $g->addNew(['new']), fn() => $g->clear()] as $call)
        refused('BloomFilterException', 'read-only', $call);
    try { $g->add('new'); } catch (BloomFilterException $e) { same(BloomFilterException::NOT_SUPPORTED, $e->getCode()); }
    same([null, true, true], [$g->sync(), $g->equals($f), (clone $g)->add('new')]);
}
same($before, sha1_file($path));
chmod($path, 0644);
same([true, true], [BloomFilter::open($path)->add('new'), $g->exists('new')]);
refused('BloomFilterException', 'read-only', fn() => BloomFilter::open($path, readOnly: true)->add('more'));
--EXPECT--
