--TEST--
A union with a filter of the future forgets nothing, and what is in it counts from now
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
foreach ([null, "$dir/w.bloom"] as $storage) {
    $now = 1e9;
    $f = new BloomFilter(n: 1000, p: 1e-6, window: 60, storage: $storage, clock: function () use (&$now) { return $now; });
    $f->addMany(range(0, 499));
    $other = new BloomFilter(n: 1000, p: 1e-6, window: 60, clock: fn() => 4e9);
    $other->add('theirs');
    $f->merge($other);
    $f->merge(BloomFilter::fromBytes($other->toBytes()));
    same([500, true], [count(array_filter($f->existMany(range(0, 499)))), $f->exists('theirs')]);
    $now += 76;
    same([0, false], [count(array_filter($f->existMany(range(0, 499)))), $f->exists('theirs')]);
    $f->close();
}
--EXPECT--
