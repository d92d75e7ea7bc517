--TEST--
A filter is constructed once
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$f = new BloomFilter(1000, 10);
$f->add('a');
refused('Error', 'already constructed', fn() => $f->__construct(2000, 10));
same([1000, true], [$f->m, $f->exists('a')]);
$f->close();
refused('Error', 'already constructed', fn() => $f->__construct(2000, 10));
refused('Error', 'already constructed', fn() => $f->__unserialize([]));
echo "done\n";
?>
--EXPECT--
done
