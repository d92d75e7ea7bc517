--TEST--
plan() sizes filters of older systems as they do, and refuses what they refuse
--FILE--
<?php require __DIR__ . '/helpers.inc';
require __DIR__ . '/vectors.inc';
foreach (vector_lines('sizing.txt') as [$scheme, $n, $p, $m, $k]) {
    $plan = fn() => BloomFilter::plan(n: (int)$n, p: (float)$p, scheme: $scheme);
    if ($m === '!') refused('ValueError', $scheme, $plan);
    elseif ($n >= 448089130 && in_array("$scheme $p", ['guava32 0.001', 'guava32 0.01']))
        refused('ValueError', "is not possible: scheme $scheme ", $plan); /* below the floor */
    else {
        /* Redisson's walk, and 31 bits on many cells, do not keep the p that is asked for. */
        $costs = $scheme === 'redisson' || ($scheme === 'guava32' && (int)$m > 2 ** 25);
        $told = $plan()['p'];
        same(true, $costs ? $told >= (float)$p : $told === (float)$p, "$scheme n=$n p=$p: $told");
        same(['m' => (int)$m, 'n' => (int)$n, 'k' => (int)$k, 'scheme' => $scheme],
             array_diff_key($plan(), ['p' => 0]), "$scheme n=$n p=$p");
    }
}
foreach (vector_lines('php_k.txt') as [$m, $n, $k]) {
    $plan = fn() => BloomFilter::plan((int)$m, (int)$n, scheme: 'php-mt-legacy')['k'];
    if ($k > 4096) refused('ValueError', 'k must be 1 to 4096', $plan);
    else same((int)$k, $plan(), "m=$m n=$n");
}
same(10000, BloomFilter::plan(n: 1000, scheme: 'rs-rand')['m']);
refused('ValueError', 'k must be 2', fn() => BloomFilter::plan(m: 1000, k: 3, scheme: 'sax-sdbm'));
refused('ValueError', 'm must be 4294967296', fn() => BloomFilter::plan(m: 1000, scheme: 'php-hashes:BKDR,SDBM,JS'));
refused('ValueError', 'BKDR', fn() => BloomFilter::plan(m: 1000, scheme: 'php-hashes'));
--EXPECT--
