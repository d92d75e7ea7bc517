--TEST--
A file with other content, a newer version or a damaged header is an exception, and stays as it is
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$path = folder() . '/a.bloom';
$live = new BloomFilter(m: 20_000, n: 1000, storage: $path);
$live->addMany(urls(100));
$whole = file_get_contents($path);
function refuse(string $part, string $bytes): void
{
    global $path;
    new_file($path, $bytes);
    refused('BloomFilterException', $part, fn() => BloomFilter::open($path));
    refused('BloomFilterException', $part, fn() => new BloomFilter(m: 20_000, n: 1000, storage: $path));
    try { BloomFilter::open($path); } catch (BloomFilterException $e) { same(BloomFilterException::FORMAT, $e->getCode()); }
    same(true, file_get_contents($path) === $bytes);
}
refuse('magic', str_repeat('x', strlen($whole)));
refuse('magic', str_repeat("\0", strlen($whole)));
refuse('magic', str_replace("\r\n", "\n", $whole) . 'x');
refuse('format version 2 has 64 to', substr_replace($whole, pack('V', 2), 8, 4));
refuse('version 3', substr_replace($whole, pack('V', 3), 8, 4));
refuse('version 4294967295', substr_replace($whole, pack('V', 0xffffffff), 8, 4));
refuse('version', substr_replace($whole, pack('V', 0), 8, 4));
same(['a.bloom'], names_in(dirname($path)));
echo "done\n";
?>
--EXPECT--
done
