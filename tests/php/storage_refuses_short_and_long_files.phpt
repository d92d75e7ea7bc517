--TEST--
A file of any other length is an exception, and stays as it is
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$path = folder() . '/a.bloom';
$live = new BloomFilter(m: 20_000, n: 1000, storage: $path);
$live->addMany(urls(100));
$memory = clone $live;
foreach ([file_get_contents($path), saved($memory)] as $whole) {
    $size = strlen($whole);
    foreach ([0, 1, 7, 8, 16, 100, 4095, 4096, 4097, $size - 4096, $size - 8, $size - 1, $size + 1, $size + 8, $size + 4096] as $length) {
        $bytes = str_pad(substr($whole, 0, $length), $length, "\0");
        new_file($path, $bytes);
        foreach ([fn() => BloomFilter::open($path), fn() => BloomFilter::open($path, readOnly: true), fn() => BloomFilter::load($path),
                  fn() => new BloomFilter(m: 20_000, n: 1000, storage: $path)] as $call) {
            refused('BloomFilterException', $path, $call);
            refused('BloomFilterException', "$length", $call);
        }
        same(true, file_get_contents($path) === $bytes, "length $length");
    }
}
same(['a.bloom'], names_in(dirname($path)));
echo "done\n";
?>
--EXPECT--
done
