--TEST--
A generator that closes the filter ends in an exception
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$f = new BloomFilter(1000, 10);
$g = (function () use ($f) { yield 'a'; $f->close(); yield 'b'; })();
refused('BloomFilterException', 'closed', fn() => $f->addMany($g));
echo "done\n";
?>
--EXPECT--
done
