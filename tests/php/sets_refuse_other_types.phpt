--TEST--
Set operations with something else are TypeErrors
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$a = new BloomFilter(1024, 100);
foreach (['union', 'intersect', 'equals'] as $method)
    foreach ([null, 'x', 1, [], new stdClass, new ArrayObject] as $other)
        refused('TypeError', "BloomFilter::$method(): Argument #1 (\$other) must be of type BloomFilter", fn() => $a->$method($other));
echo "done\n";
?>
--EXPECT--
done
