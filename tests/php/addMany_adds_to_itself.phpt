--TEST--
A generator may use the filter it feeds
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$f = new BloomFilter(n: 5000, p: 1e-6);
$g = (function () use ($f) { for ($i = 0; $i < 1000; $i++) { $f->add("side $i"); yield "main $i"; } })();
same(1000, $f->addMany($g));
same(2000, count(array_filter($f->existMany([...array_map(fn($i) => "side $i", range(0, 999)), ...array_map(fn($i) => "main $i", range(0, 999))]))));
echo "done\n";
?>
--EXPECT--
done
