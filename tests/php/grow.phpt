--TEST--
A filter that grows: its properties, its parts, what is made of it; m is the same wherever it is read
--INI--
bloomfilter.unserialize_storage=1
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
$urls = urls(5000);
foreach ([null, "$dir/g.bloom"] as $storage) {
    $f = new BloomFilter(n: 100, p: 0.01, grow: 2, storage: $storage);
    same([2.0, null, null, 100], [$f->grow, $f->window, $f->parts, $f->n]);
    $new = 0;
    foreach (array_chunk($urls, 333) as $some) $new += $f->addMany($some);
    same(5000, array_sum($f->existMany($urls)));
    $parts = $f->partInfo();
    same([$f->m, $new, $f->m], [array_sum(array_column($parts, 'm')), array_sum(array_column($parts, 'keys')), strlen($f->bitset) * 8]);
    same(true, count($parts) >= 2 && array_sum(array_column($parts, 'p')) <= 0.01);
    foreach ($f->hashcode('x') as $position) same(true, $position >= end($parts)['firstBit'] && $position < $f->m);
    same(true, $f->add('x') && !$f->add('x') && $f->exists('x'));
    $f->save("$dir/saved.bloom");
    $again = [clone $f, BloomFilter::fromBytes($f->toBytes()), unserialize(serialize($f)), $f->union(clone $f), BloomFilter::load("$dir/saved.bloom"), BloomFilter::open("$dir/saved.bloom")];
    foreach ($again as $other) same([true, $f->m, 2.0], [$other->equals($f), $other->m, $other->grow]);
    $again[0]->addMany(urls(20000, 'c'));
    foreach ([$f->union($again[0]), $again[0]->union($f)] as $both) same([20000, true, $again[0]->m], [array_sum($both->existMany(urls(20000, 'c'))), $both->exists('x'), $both->m]);
    refused('ValueError', 'cannot be intersected', fn() => $f->intersect($f));
    refused('ValueError', 'of fixed size', fn() => $f->union(new BloomFilter(n: 100, p: 0.01)));
    ob_start();
    var_dump($again[0]);
    same(1, preg_match("/int\\({$again[0]->m}\\)/", ob_get_clean()));
    $again = $other = null;
}
refused('BloomFilterException', 'asked for grow=3', fn() => new BloomFilter(n: 100, p: 0.01, grow: 3, storage: $storage));
refused('Error', 'readonly property BloomFilter::$grow', function () use ($f) { $f->grow = 3.0; });
same([true, false, true], [isset($f->grow), isset($f->window), isset($f->bitset)]);
$fixed = new BloomFilter(1000, 10);
same([null, null, null, [['firstBit' => 0, 'm' => 1000, 'n' => 10, 'p' => $fixed->p]]], [$fixed->grow, $fixed->window, $fixed->parts, $fixed->partInfo()]);
/* One place in the code reads m of both kinds. */
$growing = new BloomFilter(n: 10, p: 0.1, grow: 2);
for ($i = 0; $i < 4; $i++) {
    foreach ([$fixed, $growing] as $one) same(array_sum(array_column($one->partInfo(), 'm')), $one->m);
    $growing->addMany(urls(100000, "m$i"));
}
--EXPECT--
