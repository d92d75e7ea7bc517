--TEST--
A filter by (m, n) keeps the textbook rate
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
foreach ([[10_000, 1000], [95_851, 10_000], [14_378, 1000], [7000, 1001]] as [$m, $n]) {
    $hits = 0;
    for ($i = 0; $i < 20; $i++) {
        $f = new BloomFilter($m, $n);
        $keys = $probes = [];
        for ($j = 0; $j < $n; $j++) $keys[] = "key $i $j";
        for ($j = 0; $j < 50_000; $j++) $probes[] = "probe $i $j";
        $f->addMany($keys);
        $hits += array_sum($f->existMany($probes));
    }
    same(true, $hits / 1e6 <= 1.05 * $f->p, "m=$m n=$n: " . $hits / 1e6 / $f->p . ' of p');
}
echo "done\n";
?>
--EXPECT--
done
