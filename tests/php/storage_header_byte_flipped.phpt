--TEST--
Every byte of the header counts: one that changed is an exception, and the file stays as it is
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$path = folder() . '/a.bloom';
$live = new BloomFilter(m: 5000, n: 1000, storage: $path);
$fresh = file_get_contents($path);
$live->addMany(urls(100));
foreach (['fresh' => $fresh, 'used' => file_get_contents($path), 'saved' => saved($live)] as $kind => $whole) {
    $accepted = $changed = [];
    for ($at = 0; $at < 4096; $at++) {
        $bytes = $whole;
        $bytes[$at] = chr(ord($bytes[$at]) ^ ($at % 3 ? 1 << $at % 8 : 0xff));
        new_file($path, $bytes);
        try {
            $at % 2 ? BloomFilter::open($path) : new BloomFilter(m: 5000, n: 1000, storage: $path);
            $accepted[] = $at;
        } catch (BloomFilterException) {
            if (file_get_contents($path) !== $bytes) $changed[] = $at;
        }
    }
    same([[], []], [$accepted, $changed], $kind);
    new_file($path, $whole);
    same(5000, BloomFilter::open($path)->m);
}
echo "done\n";
?>
--EXPECT--
done
