--TEST--
null is the same as leaving an argument out
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$f = new BloomFilter(null, 1000, null, 0.01, null, null, null, null, null, null, null);
same([1000, 0.01, 'block'], [$f->n, $f->p, $f->scheme]);
echo "done\n";
?>
--EXPECT--
done
