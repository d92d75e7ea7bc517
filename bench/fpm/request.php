<?php

/* request.php - one request: what a first query costs, measured inside it. bench.py asks for it by ?what=. */

function timed(callable $work): int
{
    $start = hrtime(true);
    $work();
    return hrtime(true) - $start;
}

$path = $_GET['path'];
$key = 'https://www.example.com/shop/' . random_int(0, PHP_INT_MAX);
$ns = match ($_GET['what']) {
    'nothing' => timed(fn() => null),
    'open + exists' => timed(fn() => BloomFilter::open($path)->exists($key)),
    'open + add' => timed(fn() => BloomFilter::open($path)->add($key)),
    'new + exists' => timed(fn() => (new BloomFilter(m: 2 ** 27, k: 8, scheme: 'block', storage: $path))->exists($key)),
    'load + exists' => timed(fn() => BloomFilter::load($path)->exists($key)),
    'unserialize + exists' => timed(fn() => unserialize(file_get_contents("$path.serialized"))->exists($key)),
};
echo getmypid(), ' ', $ns;
