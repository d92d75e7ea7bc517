--TEST--
A file that is missing or no filter is an exception that names it
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$dir = folder();
$f = new BloomFilter(1000, 10);
$bytes = $f->toBytes();
refused('BloomFilterException', "$dir/none", fn() => BloomFilter::load("$dir/none"));
refused('BloomFilterException', $dir, fn() => BloomFilter::load($dir));
foreach (['empty' => '', 'text' => "no filter\n", 'short' => substr($bytes, 0, -1), 'long' => "$bytes\0", 'header' => substr($bytes, 0, 64)] as $name => $content) {
    file_put_contents("$dir/$name", $content);
    refused('BloomFilterException', $name, fn() => BloomFilter::load("$dir/$name"));
    same($content, file_get_contents("$dir/$name"));
}
symlink("$dir/gone", "$dir/dangling");
refused('BloomFilterException', 'dangling', fn() => BloomFilter::load("$dir/dangling"));
refused('ValueError', 'path', fn() => BloomFilter::load(''));
refused('ValueError', 'null bytes', fn() => BloomFilter::load("$dir/a\0b"));
echo "done\n";
?>
--EXPECT--
done
