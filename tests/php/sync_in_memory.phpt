--TEST--
sync of a filter in memory has nothing to do
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
same(null, (new BloomFilter(100, 10))->sync());
echo "done\n";
?>
--EXPECT--
done
