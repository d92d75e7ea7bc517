--TEST--
Set operations on filters of other m, k, scheme or secret name both
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$a = new BloomFilter(1024, 100, 4);
$secret = str_repeat('s', 16);
foreach ([['m', '1024 and 2048', new BloomFilter(2048, 100, 4)], ['k', '4 and 5', new BloomFilter(1024, 100, 5)],
          ['scheme', 'classic and block', new BloomFilter(1024, 100, 4, scheme: 'block')],
          ['secret', 'keyed', new BloomFilter(1024, 100, 4, secret: $secret)]] as [$what, $both, $b]) {
    foreach (['union', 'intersect'] as $method) {
        refused('ValueError', $what, fn() => $a->$method($b));
        refused('ValueError', $both, fn() => $a->$method($b));
    }
    same(false, $a->equals($b));
}
same(true, $a->union(new BloomFilter(1024, 77, 4))->m === 1024);
echo "done\n";
?>
--EXPECT--
done
