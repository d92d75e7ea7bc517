--TEST--
A keyed filter cannot be serialized: its secret is never stored
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$f = new BloomFilter(1000, 10, secret: str_repeat('k', 16));
refused('BloomFilterException', 'a keyed filter cannot be serialized', fn() => serialize($f));
try { serialize($f); } catch (BloomFilterException $e) { same(BloomFilterException::NOT_SUPPORTED, $e->getCode()); }
echo "done\n";
?>
--EXPECT--
done
