--TEST--
The constants of BloomFilterException have the codes of the C library
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
same(['CLOSED' => 0, 'NO_MEMORY' => -2, 'IO' => -3, 'FORMAT' => -4, 'MISMATCH' => -5, 'NOT_SUPPORTED' => -6, 'BUSY' => -8, 'NOT_FOUND' => -9, 'LOST' => -10, 'FULL' => -11],
    (new ReflectionClass('BloomFilterException'))->getConstants());
echo "done\n";
?>
--EXPECT--
done
