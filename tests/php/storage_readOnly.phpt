--TEST--
readOnly: true, or no right to write: the filter is read, and adding is an exception until the right is there
--FILE--
<?php require __DIR__ . '/helpers.inc';
$path = folder() . '/a.bloom';
$f = new BloomFilter(n: 1000, p: 0.01, storage: $path);
$f->addMany(urls(100));
$changes = fn(BloomFilter $g) => [fn() => $g->add('new'), fn() => $g->add(urls(1)[0]), fn() => $g->addMany(['new']), fn() => $g->addNew(['new']), fn() => $g->clear()];
$g = BloomFilter::open($path, readOnly: true);
foreach ($changes($g) as $call) refused('BloomFilterException', 'read-only', $call);
same([true, true, true, true], [$f->add('b'), $g->exists('b'), BloomFilter::open($path)->add('c'), $g->exists('c')], 'writers are not touched');
refused('BloomFilterException', 'No such file', fn() => BloomFilter::open("$path.none", readOnly: true));
same('read', in_other_php('$f = BloomFilter::open(' . var_export($path, true) . ', readOnly: true); if ($f->exists("c")) echo "read"; try { $f->add("d"); echo "added"; } catch (BloomFilterException) {}'));

$f = clone $f;
$f->save($path = "$path.2");
chmod($path, 0444);
$before = sha1_file($path);
foreach ([fn() => BloomFilter::open($path), fn() => new BloomFilter(n: 1000, p: 0.01, storage: $path), fn() => BloomFilter::open($path, readOnly: true)] as $open) {
    $g = $open();
    same([true, false, 100], [$g->exists('b'), $g->exists('other'), array_sum($g->existMany(urls(100)))]);
    foreach ($changes($g) as $call) refused('BloomFilterException', 'read-only', $call);
    try { $g->add('new'); } catch (BloomFilterException $e) { same(BloomFilterException::NOT_SUPPORTED, $e->getCode()); }
    same([null, true, true], [$g->sync(), $g->equals($f), (clone $g)->add('new')]);
}
same($before, sha1_file($path));
chmod($path, 0644);
same([true, true], [BloomFilter::open($path)->add('new'), $g->exists('new')]);
--EXPECT--
