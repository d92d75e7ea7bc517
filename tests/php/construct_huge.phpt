--TEST--
What memory cannot hold is an exception, never the end of the process
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
try {
    $f = new BloomFilter(2 ** 40, 2 ** 36);
    $f->close();                            // a machine that promises any amount
} catch (BloomFilterException $e) {
    same(BloomFilterException::NO_MEMORY, $e->getCode());
    same(true, str_contains($e->getMessage(), '1099511627776'), $e->getMessage());
}
refused('ValueError', 'n=9223372036854775807', fn() => new BloomFilter(n: PHP_INT_MAX, p: 0.01));
same(true, (new BloomFilter(1000, 10))->add('alive'));
echo "done\n";
?>
--EXPECT--
done
