--TEST--
What the constructor cannot take is an exception that names the argument and holds the value
--FILE--
<?php require __DIR__ . '/helpers.inc';
$unsound = [[0, 'got 0'], [-1, 'got -1'], [PHP_INT_MIN, 'got -9223372036854775808'], [NAN, 'got NAN']];
$infinite = [[INF, 'got INF'], [-INF, 'got -INF']];
$values = [
    'm' => [...$unsound, ...$infinite, [2 ** 40 + 1, 'got 1099511627777'], [PHP_INT_MAX, 'got 9223372036854775807'], [2 ** 63, 'got 9.2'],
            [0.0, 'got 0'], [0.5, 'got 0.5'], [10.7, 'got 10.7']],
    'n' => [...$unsound, ...$infinite, [2 ** 63, 'got 9.2'], [1.5, 'got 1.5'], [0.01, 'for a rate write new BloomFilter(n: keys, p: 0.01)']],
    'k' => [...$unsound, [4097, 'got 4097'], [2 ** 32, 'got 4294967296'], [2 ** 32 + 1, 'got 4294967297'], [PHP_INT_MAX, 'got 9223372036854775807'],
            [1.5, 'got 1.5'], [0.0, 'got 0'], [-1.0, 'got -1'], [4097.0, 'got 4097'], [2.0 ** 63, 'got 9'], [1e30, 'got 1']],
    'p' => [[0, 'got 0'], [0.0, 'got 0'], [1.0, 'got 1'], [-0.1, 'got -0.1'], [2.0, 'got 2'], [NAN, 'got NAN'], ...$infinite],
];
$forms = [
    'm' => [fn($m) => new BloomFilter($m, 100), fn($m) => new BloomFilter(m: $m, k: 3), fn($m) => BloomFilter::plan($m, 100)],
    'n' => [fn($n) => new BloomFilter(1000, $n), fn($n) => new BloomFilter(n: $n, p: 0.01), fn($n) => BloomFilter::plan(1000, $n)],
    'k' => [fn($k) => new BloomFilter(m: 1000, k: $k), fn($k) => new BloomFilter(1000, 10, $k), fn($k) => BloomFilter::plan(m: 1000, k: $k),
            fn($k) => BloomFilter::open('missing', k: $k), fn($k) => BloomFilter::fromBytes('', k: $k)],
    'p' => [fn($p) => new BloomFilter(n: 100, p: $p), fn($p) => BloomFilter::plan(n: 100, p: $p)],
];
$limits = ['m' => 'm must be', 'n' => 'n must be', 'k' => 'k must be 1 to 4096 positions', 'p' => 'p must be above 0 and below 1'];
foreach ($values as $name => $bad)
    foreach ($bad as [$value, $part])
        foreach ($forms[$name] as $form) {
            refused('ValueError', $limits[$name], fn() => $form($value));
            refused('ValueError', $part, fn() => $form($value));
        }
refused('ValueError', 'got 17', fn() => new BloomFilter(m: 1000, k: 17, scheme: 'block'));
same([347, 4096], [(new BloomFilter(1000, 2, ceil(1000 / 2 * log(2))))->k, (new BloomFilter(m: 100_000, k: 4096))->k]);

foreach ([[], [1000], ['n' => 1000], ['p' => 0.1], ['k' => 3]] as $arguments) refused('ValueError', 'give m and n', fn() => new BloomFilter(...$arguments));
foreach ([['classic, block, block2', 'murmur'], ['murmur', 'murmur'], ['got ', ''], ['null bytes', "block\0"]] as [$part, $scheme])
    refused('ValueError', $part, fn() => new BloomFilter(1000, 10, scheme: $scheme));
foreach ([
    ['grow needs n and p', ['m' => 100, 'n' => 10, 'grow' => 2.0]],
    ['window needs n and p', ['m' => 100, 'n' => 10, 'window' => 60]],
    ['must not be given together', ['grow' => 2, 'window' => 60]],
    ['give window', ['parts' => 3]],
    ['give window', ['clock' => time(...)]],
    ['shards', ['shards' => 4, 'grow' => 2.0]],
    ['grow must be a factor above 1, at most 1e300, got 0', ['grow' => 0]],
    ['grow must be a factor above 1, at most 1e300, got NAN', ['grow' => NAN]],
    ['got INF', ['window' => INF]],
    ['got 0', ['window' => 0]],
    ['got -1', ['shards' => -1]],
    ['key=x', ['key' => 'x']],
] as [$part, $arguments])
    refused('ValueError', $part, fn() => new BloomFilter(...$arguments + ['n' => 10] + (isset($arguments['m']) ? [] : ['p' => 0.1])));
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
