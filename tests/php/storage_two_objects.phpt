--TEST--
Two objects on one file see each other's keys at once, and close apart
--FILE--
<?php require __DIR__ . '/helpers.inc';
$path = folder() . '/a.bloom';
$f = new BloomFilter(n: 1000, p: 0.01, storage: $path);
$g = BloomFilter::open($path);
$h = BloomFilter::open($path, readOnly: true);
$f->add('by f'); $g->add('by g');
same([true, true, true, true], [$g->exists('by f'), $f->exists('by g'), $h->exists('by f'), $h->exists('by g')]);
$g->close();
refused('BloomFilterException', 'closed', fn() => $g->exists('by f'));
same([true, true], [$f->exists('by g'), $f->add('after')]);
$many = [];
for ($i = 0; $i < 1000; $i++) $many[] = BloomFilter::open($path);
$f->close();
foreach ($many as $i => $one) $i % 2 ? $one->close() : $one->add("key $i");
same(500, array_sum($many[0]->existMany(array_map(fn($i) => "key $i", range(0, 998, 2)))));
unset($f, $many);
same([true, 2], [BloomFilter::open($path)->exists('key 998'), kept()]);
--EXPECT--
