--TEST--
What m, n, k and p the constructor derives from each other, and plan() without making anything
--FILE--
<?php require __DIR__ . '/helpers.inc';
# By position: m, n, k. What follows from what is the core's (tests/cross/test_identity.py compares it in all languages).
$f = new BloomFilter(1000, 100, 3);
same([1000, 100, 3, 'classic'], [$f->m, $f->n, $f->k, $f->scheme]);

# null is the same as leaving an argument out.
$f = new BloomFilter(null, 1000, null, 0.01, null, null, null, null, null, null, null);
same([1000, 0.01, 'block'], [$f->n, $f->p, $f->scheme]);

# 1e6 and "1000" are numbers, as everywhere in PHP.
same([1_000_000, 100_000], [($f = new BloomFilter(1e6, 1e5))->m, $f->n]);
same([1000, 10], [($f = new BloomFilter('1000', '10'))->m, $f->n]);
same(5_000_000_000, BloomFilter::plan(n: 5e9, p: 0.01)['n']);

# plan() answers what the constructor would make.
foreach ([['n' => 1000, 'p' => 0.01], ['m' => 1000, 'k' => 3], ['n' => 50, 'p' => 0.02, 'scheme' => 'classic']] as $arguments) {
    $plan = BloomFilter::plan(...$arguments);
    $f = new BloomFilter(...$arguments);
    same(['m' => $f->m, 'n' => $f->n, 'k' => $f->k, 'p' => $f->p, 'scheme' => $f->scheme], $plan);
}
same(2 ** 40, BloomFilter::plan(2 ** 40, 2 ** 36)['m']);
--EXPECT--
