--TEST--
plan() answers what the constructor would make, and makes nothing
--FILE--
<?php require __DIR__ . '/helpers.inc';
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
