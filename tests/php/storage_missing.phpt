--TEST--
Nothing under the path is an exception, and nothing is made
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$dir = folder();
foreach ([fn() => BloomFilter::open("$dir/none"), fn() => BloomFilter::open("$dir/none", readOnly: true), fn() => new BloomFilter(storage: "$dir/none"),
          fn() => new BloomFilter(k: 3, storage: "$dir/none"), fn() => new BloomFilter(n: 10, p: 0.1, storage: "$dir/none/a"), fn() => BloomFilter::open("$dir/none/a")] as $call)
    refused('BloomFilterException', "$dir/none", $call);
try { BloomFilter::open("$dir/none"); } catch (BloomFilterException $e) { same(BloomFilterException::NOT_FOUND, $e->getCode()); }
refused('BloomFilterException', 'No such file or directory', fn() => BloomFilter::open("$dir/none"));
symlink("$dir/gone", "$dir/dangling");
foreach ([fn() => BloomFilter::open("$dir/dangling"), fn() => new BloomFilter(n: 10, p: 0.1, storage: "$dir/dangling"), fn() => BloomFilter::open("$dir/dangling", readOnly: true)] as $call)
    refused('BloomFilterException', 'dangling symbolic link', $call);
foreach ([fn() => BloomFilter::open("$dir/none", scheme: 'clasic'), fn() => new BloomFilter(n: 10, p: 0.1, storage: "$dir/none/a", scheme: 'clasic')] as $call)
    refused('ValueError', 'got clasic', $call);                                # not that the file is missing
refused('ValueError', 'path', fn() => BloomFilter::open(''));
refused('ValueError', 'null bytes', fn() => BloomFilter::open("$dir/a\0b"));
same([['dangling'], 0], [names_in($dir), kept()]);
echo "done\n";
?>
--EXPECT--
done
