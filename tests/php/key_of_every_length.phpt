--TEST--
Single and batch calls agree for keys of 0 to 600 bytes
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
foreach (['classic', 'block', 'block2'] as $scheme) {
    $one = new BloomFilter(n: 601, p: 0.001, scheme: $scheme);
    $many = new BloomFilter(n: 601, p: 0.001, scheme: $scheme);
    $keys = [];
    for ($i = 0; $i <= 600; $i++) $keys[] = substr(str_repeat("bytes \0\xff $i ", 100), 0, $i);
    $new = 0;
    foreach ($keys as $key) $new += $one->add($key);
    same($new, $many->addMany($keys), $scheme);
    same(true, $one->bitset === $many->bitset, "$scheme: the same bits");
}
echo "done\n";
?>
--EXPECT--
done
