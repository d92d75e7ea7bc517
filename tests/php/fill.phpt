--TEST--
fillRatio and fpr
--FILE--
<?php require __DIR__ . '/helpers.inc';
# fillRatio is the share of bits set.
$f = new BloomFilter(m: 1000, k: 5);
same(0.0, $f->fillRatio());
$f->addMany(urls(50));
same(count(positions_of($f->bitset)) / 1000, $f->fillRatio());
$f = new BloomFilter(m: 7, k: 7);
$f->addMany(urls(1000));
same([1.0, 1.0], [$f->fillRatio(), $f->fpr()]);

# fpr is the rate of false positives now.
foreach (['classic', 'block', 'block2'] as $scheme) {
    $f = new BloomFilter(n: 10_000, p: 0.01, scheme: $scheme);
    same(0.0, $f->fpr());
    $f->addMany(urls(5000));
    $half = $f->fpr();
    $f->addMany(urls(10_000));
    same(true, $half > 0 && $half < 0.005 && $f->fpr() > 0.008 && $f->fpr() < 0.012, "$scheme: $half, {$f->fpr()}");
}
--EXPECT--
