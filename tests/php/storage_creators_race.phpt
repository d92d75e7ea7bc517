--TEST--
Several creators at once: one makes the file, all use it
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
for ($round = 0; $round < 5; $round++) {
    $path = "$dir/$round";
    $others = [];
    for ($i = 0; $i < 4; $i++)
        $others[] = other_php('$p = ' . var_export($path, true) . "; fgets(STDIN); \$f = new BloomFilter(n: 10_000, p: 1e-6, storage: \$p); for (\$j = 0; \$j < 500; \$j++) \$f->add(\"$i:\$j\"); echo 'ok';");
    foreach ($others as [, $in]) fwrite($in, "go\n");
    foreach ($others as [$process, , $out]) { same('ok', stream_get_contents($out)); proc_close($process); }
    $f = BloomFilter::open($path);
    for ($i = 0; $i < 4; $i++) same(500, array_sum($f->existMany(array_map(fn($j) => "$i:$j", range(0, 499)))), "creator $i");
}
same(['0', '1', '2', '3', '4'], names_in($dir));
--EXPECT--
