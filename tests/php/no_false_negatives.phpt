--TEST--
What was added is found, in every scheme
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
foreach (['classic', 'block', 'block2'] as $scheme)
    foreach ([1, 2, 63, 64, 65, 1000] as $n) {
        $f = new BloomFilter(n: $n, p: 0.01, scheme: $scheme);
        foreach (urls($n, $scheme) as $url) $f->add($url);
        foreach (urls($n, $scheme) as $url) same(true, $f->exists($url), "$scheme $url");
    }
echo "done\n";
?>
--EXPECT--
done
