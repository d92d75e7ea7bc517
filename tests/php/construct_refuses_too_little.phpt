--TEST--
Too few arguments to size a filter are a ValueError
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
refused('ValueError', 'give m and n', fn() => new BloomFilter());
refused('ValueError', 'give m and n', fn() => new BloomFilter(1000));
refused('ValueError', 'give m and n', fn() => new BloomFilter(n: 1000));
refused('ValueError', 'give m and n', fn() => new BloomFilter(p: 0.1));
refused('ValueError', 'give m and n', fn() => new BloomFilter(k: 3));
echo "done\n";
?>
--EXPECT--
done
