--TEST--
fpr is the rate of false positives now
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
foreach (['classic', 'block', 'block2'] as $scheme) {
    $f = new BloomFilter(n: 10_000, p: 0.01, scheme: $scheme);
    same(0.0, $f->fpr());
    $f->addMany(urls(5000));
    $half = $f->fpr();
    $f->addMany(urls(10_000));
    same(true, $half > 0 && $half < 0.005 && $f->fpr() > 0.008 && $f->fpr() < 0.012, "$scheme: $half, {$f->fpr()}");
}
echo "done\n";
?>
--EXPECT--
done
