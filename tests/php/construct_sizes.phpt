--TEST--
What m, n, k and p the constructor derives from each other, and plan() without making anything
--FILE--
<?php require __DIR__ . '/helpers.inc';
# The classic constructor takes m and n; k = ceil(m/n ln 2).
foreach ([[10, 2, 4], [1000, 100, 7], [1000, 2, 347], [1, 1, 1], [100, 1000, 1], [9586, 1000, 7]] as [$m, $n, $k]) {
    $f = new BloomFilter($m, $n);
    same([$m, $n, $k, 'classic'], [$f->m, $f->n, $f->k, $f->scheme], "m=$m n=$n");
    same(round((1 - exp(-$k / ($m / $n))) ** $k, 12), round($f->p, 12), 'the formula');
}
$f = new BloomFilter(1000, 100, 3);
same([1000, 100, 3], [$f->m, $f->n, $f->k]);

# m and k size a filter, n is then floor(m/k ln 2).
$f = new BloomFilter(m: 1000, k: 7);
same([1000, 7, 99, 'classic'], [$f->m, $f->k, $f->n, $f->scheme]);

# n and p give m, k and the scheme.
$f = new BloomFilter(n: 1_000_000, p: 0.01);
same([1_000_000, 0.01, 'block', 0], [$f->n, $f->p, $f->scheme, $f->m % 512]);
same(true, $f->m / $f->n <= 9.95 + 0.01, "block at 1 %: {$f->m} bits");
$f = new BloomFilter(n: 1_000_000, p: 0.0001);
same([0.0001, 'block2'], [$f->p, $f->scheme]);
same(true, $f->m / $f->n <= 19.89 + 0.02, "block2 at 0.01 %: {$f->m} bits");
$f = new BloomFilter(n: 1_000_000, p: 0.01, scheme: 'classic');
same([0.01, 'classic', 7], [$f->p, $f->scheme, $f->k]);
same(true, abs($f->m / $f->n - 9.59) < 0.01, "classic at 1 %: {$f->m} bits");
same('block', (new BloomFilter(n: 1000, p: 0.001))->scheme);

# m and p size a filter, n is then what fits.
$f = new BloomFilter(m: 100_000, p: 0.01);
same([100_000, 0.01, 'classic'], [$f->m, $f->p, $f->scheme]);
same(true, $f->n > 10_000 && $f->n < 10_500, "n = {$f->n}");

# The block schemes take whole lines of 512 bits.
same(1024, (new BloomFilter(m: 513, n: 10, scheme: 'block'))->m);
same(512, (new BloomFilter(m: 1, n: 1, scheme: 'block'))->m);
same(0, (new BloomFilter(n: 1, p: 0.5, scheme: 'block2'))->m % 512);

# null is the same as leaving an argument out.
$f = new BloomFilter(null, 1000, null, 0.01, null, null, null, null, null, null, null);
same([1000, 0.01, 'block'], [$f->n, $f->p, $f->scheme]);

# 1e6 and "1000" are numbers, as everywhere in PHP.
same([1_000_000, 100_000], [($f = new BloomFilter(1e6, 1e5))->m, $f->n]);
same([1000, 10], [($f = new BloomFilter('1000', '10'))->m, $f->n]);
same(5_000_000_000, BloomFilter::plan(n: 5e9, p: 0.01)['n']);

# plan() answers what the constructor would make.
foreach ([['n' => 1000, 'p' => 0.01], ['m' => 1000, 'n' => 10], ['m' => 1000, 'k' => 3], ['n' => 77, 'p' => 1e-5],
          ['n' => 50, 'p' => 0.02, 'scheme' => 'classic'], ['n' => 50, 'p' => 0.02, 'k' => 3]] as $arguments) {
    $plan = BloomFilter::plan(...$arguments);
    $f = new BloomFilter(...$arguments);
    same(['m' => $f->m, 'n' => $f->n, 'k' => $f->k, 'p' => $f->p, 'scheme' => $f->scheme], $plan);
}
same(2 ** 40, BloomFilter::plan(2 ** 40, 2 ** 36)['m']);
refused('ValueError', 'm must be', fn() => BloomFilter::plan(n: PHP_INT_MAX, p: 0.01));
refused('ValueError', 'give m and n', fn() => BloomFilter::plan());
--EXPECT--
