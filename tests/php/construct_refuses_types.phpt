--TEST--
Arguments of a wrong type are TypeErrors
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
refused('TypeError', '#1 ($m)', fn() => new BloomFilter('many', 10));
refused('TypeError', '#2 ($n)', fn() => new BloomFilter(10, []));
refused('TypeError', '#3 ($k)', fn() => new BloomFilter(10, 10, 'x'));
refused('TypeError', '#4 ($p)', fn() => new BloomFilter(n: 10, p: 'x'));
refused('TypeError', '#5 ($scheme)', fn() => new BloomFilter(10, 10, scheme: []));
refused('TypeError', '#6 ($secret)', fn() => new BloomFilter(10, 10, secret: []));
refused('TypeError', '#7 ($storage)', fn() => new BloomFilter(10, 10, storage: new stdClass));
refused('Error', 'Unknown named parameter $size', fn() => new BloomFilter(size: 10));
echo "done\n";
?>
--EXPECT--
done
