--TEST--
equals compares m, k, scheme and bits; n and p do not matter
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$a = new BloomFilter(1024, 100, 4); $b = new BloomFilter(1024, 50, 4);
same(true, $a->equals($b));
$a->add('x');
same([false, false], [$a->equals($b), $b->equals($a)]);
$b->add('x');
same([true, true, true], [$a->equals($b), $b->equals($a), $a->equals($a)]);
same([false, false], [$a->equals(new BloomFilter(1023, 100, 4)), $a->equals(new BloomFilter(1024, 100, 3))]);
echo "done\n";
?>
--EXPECT--
done
