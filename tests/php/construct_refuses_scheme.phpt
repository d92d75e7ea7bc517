--TEST--
An unknown scheme is a ValueError that lists the known ones
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
refused('ValueError', 'classic, block, block2', fn() => new BloomFilter(1000, 10, scheme: 'murmur'));
refused('ValueError', 'murmur', fn() => new BloomFilter(1000, 10, scheme: 'murmur'));
refused('ValueError', 'got ', fn() => new BloomFilter(1000, 10, scheme: ''));
refused('ValueError', 'null bytes', fn() => new BloomFilter(1000, 10, scheme: "block\0"));
echo "done\n";
?>
--EXPECT--
done
