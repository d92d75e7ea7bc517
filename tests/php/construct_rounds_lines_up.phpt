--TEST--
The block schemes take whole lines of 512 bits
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
same(1024, (new BloomFilter(m: 513, n: 10, scheme: 'block'))->m);
same(512, (new BloomFilter(m: 1, n: 1, scheme: 'block'))->m);
same(0, (new BloomFilter(n: 1, p: 0.5, scheme: 'block2'))->m % 512);
echo "done\n";
?>
--EXPECT--
done
