--TEST--
count($f) estimates the number of different keys
--FILE--
<?php require __DIR__ . '/helpers.inc';
foreach (['classic', 'block', 'block2'] as $scheme) {
    $f = new BloomFilter(n: 100_000, p: 0.001, scheme: $scheme);
    same([0, 0], [count($f), $f->count()]);
    $f->add('a');
    same(1, count($f), $scheme);
    $f->addMany(urls(50_000)); $f->addMany(urls(50_000));
    same(true, abs(count($f) - 50_001) < 1000, "$scheme: " . count($f));
}
same(true, $f instanceof Countable);
$full = new BloomFilter(m: 8, k: 8);
$full->addMany(urls(1000));
same(true, count($full) > 0 && count($full) < PHP_INT_MAX);
--EXPECT--
