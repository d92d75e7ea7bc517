--TEST--
A filter that grows loses no key and keeps its rate, in memory and in a file
--INI--
bloomfilter.unserialize_storage=1
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
foreach ([null, "$dir/g.bloom"] as $storage) {
    $f = new BloomFilter(n: 100, p: 0.01, grow: 2, storage: $storage);
    same([2.0, null, null, 100], [$f->grow, $f->window, $f->parts, $f->n]);
    $first = $f->m;
    $urls = urls(20000);
    $new = 0;
    foreach (array_chunk($urls, 333) as $some) {
        $new += $f->addMany($some);
        same(count($some), array_sum($f->existMany($some)));
    }
    same(20000, array_sum($f->existMany($urls)));
    same(true, $new <= 20000 && $new > 19700, "new: $new");
    same(true, array_sum($f->existMany(urls(50000, 'b'))) <= 500 + 5 * sqrt(500));
    same(true, $f->m > 10 * $first && $f->m === strlen($f->bitset) * 8);
    $parts = $f->partInfo();
    same($f->m, array_sum(array_column($parts, 'm')));
    same($new, array_sum(array_column($parts, 'keys')));
    same(true, count($parts) >= 2 && array_sum(array_column($parts, 'p')) <= 0.01);
    same(true, abs(count($f) - $new) < 0.05 * $new);
    foreach ($f->hashcode('x') as $position) same(true, $position >= end($parts)['firstBit'] && $position < $f->m);
    same(true, $f->add('x') && !$f->add('x') && $f->exists('x'));
    $again = [clone $f, BloomFilter::fromBytes($f->toBytes()), unserialize(serialize($f)), $f->union(clone $f)];
    $f->save("$dir/saved.bloom");
    $again[] = BloomFilter::load("$dir/saved.bloom");
    $again[] = BloomFilter::open("$dir/saved.bloom");
    foreach ($again as $other) same([true, $f->m, 2.0], [$other->equals($f), $other->m, $other->grow]);
    $before = $again[0]->m;
    $again[0]->addMany(urls(60000, "c"));
    same(true, $again[0]->m > $before && !$again[0]->equals($f) && array_sum($again[0]->existMany(urls(60000, 'c'))) === 60000);
    foreach ([[$f, $again[0]], [$again[0], $f]] as [$a, $b]) {
        $both = $a->union($b);
        same([true, $again[0]->m], [array_sum($both->existMany(urls(60000, 'c'))) === 60000 && $both->exists('x'), $both->m]);
    }
    $merged = clone $f;
    $merged->merge($again[0]);
    same(true, $merged->equals($again[0]));
    refused('ValueError', 'cannot be intersected', fn() => $f->intersect($f));
    refused('ValueError', 'of fixed size', fn() => $f->union(new BloomFilter(n: 100, p: 0.01)));
    ob_start();
    var_dump($again[0]);
    same(1, preg_match("/int\\({$again[0]->m}\\)/", ob_get_clean()));
    $again = $other = null;
}
$kept = new BloomFilter(n: 100, p: 0.01, grow: 2, storage: $storage);
same(true, $kept->exists('x'));
refused('BloomFilterException', 'asked for grow=3', fn() => new BloomFilter(n: 100, p: 0.01, grow: 3, storage: $storage));
refused('Error', 'readonly property BloomFilter::$grow', function () use ($kept) { $kept->grow = 3.0; });
same([true, false, true], [isset($kept->grow), isset($kept->window), isset($kept->bitset)]);
$fixed = new BloomFilter(1000, 10);
same([null, null, null, [['firstBit' => 0, 'm' => 1000, 'n' => 10, 'p' => $fixed->p]]], [$fixed->grow, $fixed->window, $fixed->parts, $fixed->partInfo()]);
/* One place in the code reads m of both kinds. */
$growing = new BloomFilter(n: 10, p: 0.1, grow: 2);
for ($i = 0; $i < 4; $i++) {
    foreach ([$fixed, $growing] as $one) same(array_sum(array_column($one->partInfo(), 'm')), $one->m);
    $growing->addMany(urls(100000, "m$i"));
}
--EXPECT--
