--TEST--
Whole filters of older systems: every bit, the same false positives, their own bytes there and back
--FILE--
<?php require __DIR__ . '/helpers.inc';
require __DIR__ . '/vectors.inc';
$filters = 0;
function url_keys(int $salt, int $from, int $count): array
{
    $keys = [];
    for ($i = 0; $i < $count; $i++) $keys[] = vector_url($salt, $from + $i);
    return $keys;
}
foreach (vector_lines('filters.txt') as [$scheme, $m, $k, $salt, $from, $count, $salt2, $from2, $count2, $found, $ones, $sha, $lsb, $guava]) {
    $f = new BloomFilter(m: (int)$m, k: (int)$k, scheme: $scheme);
    $added = url_keys((int)$salt, (int)$from, (int)$count);
    $f->addMany($added);
    same([true], array_values(array_unique($f->existMany($added))), "$scheme $m");
    same((int)$found, array_sum($f->existMany(url_keys((int)$salt2, (int)$from2, (int)$count2))), "$scheme $m found");
    same($sha, hash('sha256', $f->bitset), "$scheme $m bitset");
    foreach (['bits' => $sha, 'bits-lsb' => $lsb, 'guava' => $guava] as $format => $expected) {
        if ($expected === '-') continue;
        $bytes = $f->toBytes($format);
        same($expected, hash('sha256', $bytes), "$scheme $m $format");
        same(true, BloomFilter::fromBytes($bytes, format: $format, m: (int)$m, k: (int)$k, scheme: $scheme)->equals($f), "$scheme $m back from $format");
    }
    $filters++;
}
echo $filters, " filters\n";
--EXPECT--
29 filters
