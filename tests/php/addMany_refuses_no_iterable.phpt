--TEST--
What cannot be iterated is a TypeError
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$f = new BloomFilter(1000, 10);
foreach (['abc', 42, null, true, 1.5, new stdClass] as $keys)
    refused('TypeError', 'BloomFilter::addMany(): Argument #1 ($keys) must be of type', fn() => $f->addMany($keys));
foreach (['existMany', 'addNew'] as $method)
    foreach (['abc', 42, null, new ArrayIterator(['a'])] as $keys)
        refused('TypeError', "BloomFilter::$method(): Argument #1 (\$keys) must be of type array", fn() => $f->$method($keys));
same(0, count($f));
echo "done\n";
?>
--EXPECT--
done
