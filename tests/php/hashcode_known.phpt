--TEST--
Positions that never change: stored filters depend on them
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
foreach (['classic' => [1000, 4], 'block' => [5120, 4], 'block2' => [5120, 4]] as $scheme => [$m, $k])
    foreach (['', 'a', 42, 'https://www.example.org/'] as $key)
        echo $scheme, ' ', var_export($key, true), ': ', implode(' ', (new BloomFilter(m: $m, k: $k, scheme: $scheme))->hashcode($key)), "\n";
echo "done\n";
?>
--EXPECT--
classic '': 175 363 452 347
classic 'a': 901 457 916 180
classic 42: 70 135 102 873
classic 'https://www.example.org/': 879 374 772 974
block '': 576 692 746 776
block 'a': 4912 4934 5035 5098
block 42: 9 72 154 246
block 'https://www.example.org/': 4338 4354 4472 4523
block2 '': 576 692 1338 1362
block2 'a': 4912 4934 2026 1552
block2 42: 9 72 4913 4959
block2 'https://www.example.org/': 4338 4354 1534 1031
done
