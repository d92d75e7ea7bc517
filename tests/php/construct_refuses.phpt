--TEST--
What the constructor cannot take is an exception that names the argument and holds the value
--FILE--
<?php require __DIR__ . '/helpers.inc';
foreach ([fn() => new BloomFilter(n: 0.01, p: 0.01), fn() => BloomFilter::plan(1000, 0.01)] as $form)
    refused('ValueError', 'for a rate write new BloomFilter(n: keys, p: 0.01)', $form);
foreach ([fn() => BloomFilter::open('missing', k: 0), fn() => BloomFilter::fromBytes('', k: 0)] as $form) refused('ValueError', 'k must be 1 to 4096', $form);
refused('ValueError', 'got 17', fn() => new BloomFilter(m: 1000, k: 17, scheme: 'block'));
same([347, 4096], [(new BloomFilter(1000, 2, ceil(1000 / 2 * log(2))))->k, (new BloomFilter(m: 100_000, k: 4096))->k]);

foreach ([['give window', ['parts' => 3]], ['give window', ['clock' => time(...)]], ['must not be given together', ['grow' => 2, 'window' => 60]]] as [$part, $arguments])
    refused('ValueError', $part, fn() => new BloomFilter(...$arguments + ['n' => 10, 'p' => 0.1]));
foreach ([
    ['#1 ($m)', ['many', 10]],
    ['#2 ($n)', [10, []]],
    ['#3 ($k)', [10, 10, 'x']],
    ['#4 ($p)', ['n' => 10, 'p' => 'x']],
    ['#5 ($scheme)', [10, 10, 'scheme' => []]],
    ['#6 ($secret)', [10, 10, 'secret' => []]],
    ['#7 ($storage)', [10, 10, 'storage' => new stdClass]],
] as [$part, $arguments])
    refused('TypeError', $part, fn() => new BloomFilter(...$arguments));
refused('Error', 'Unknown named parameter $size', fn() => new BloomFilter(size: 10));
--EXPECT--
