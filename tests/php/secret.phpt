--TEST--
Keyed filters have positions of their own, and open with their secret only: bytes, saved files, files that are kept open
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
[$secret, $again] = [BloomFilter::randomSecret(), BloomFilter::randomSecret()];
same([16, false], [strlen($secret), $secret === $again]);
$f = new BloomFilter(n: 1000, p: 1e-6, secret: $secret);
$plain = new BloomFilter(n: 1000, p: 1e-6);
foreach ([$f, $plain] as $one) $one->addMany(urls(100));
same([100, false, false], [array_sum($f->existMany(urls(100))), $f->bitset === $plain->bitset, $f->hashcode('a') === (new BloomFilter(n: 1000, p: 1e-6, secret: $again))->hashcode('a')]);
same([false, true], [str_contains($f->toBytes(), $secret), (clone $f)->union($f)->equals($f)]);
$f->save("$dir/keyed");
$plain->save("$dir/plain");
$bytes = ["$dir/keyed" => $f->toBytes(), "$dir/plain" => $plain->toBytes()];
function openers(string $path, ?string $secret): array
{
    $ways = [fn() => BloomFilter::fromBytes($GLOBALS['bytes'][$path], $secret), fn() => BloomFilter::load($path, $secret), fn() => BloomFilter::open($path, $secret, readOnly: true)];
    if (is_extension()) array_push($ways, fn() => BloomFilter::open($path, $secret), fn() => new BloomFilter(n: 1000, p: 1e-6, secret: $secret, storage: $path), fn() => new BloomFilter(secret: $secret, storage: $path));
    return $ways;
}
for ($round = 0; $round < 2; $round++) {                    # in the second all are kept open
    foreach (openers("$dir/keyed", $secret) as $open) same([100, true], [array_sum($open()->existMany(urls(100))), $open()->equals($f)]);
    foreach (openers("$dir/keyed", null) as $open) refused('BloomFilterException', 'is keyed: its secret must be given', $open);
    foreach (openers("$dir/keyed", $again) as $open) refused('BloomFilterException', 'is keyed with another secret', $open);
    foreach (openers("$dir/plain", $secret) as $open) refused('BloomFilterException', 'is not keyed, but a secret was given', $open);
    foreach (openers("$dir/keyed", 'short') as $open) refused('ValueError', 'secret must be 16 bytes, got 5', $open);
    foreach (openers("$dir/plain", null) as $open) same(true, $open()->equals($plain));
}

# its secret is never stored
foreach ([$f, BloomFilter::open("$dir/keyed", $secret)] as $keyed) refused('BloomFilterException', 'a keyed filter cannot be serialized', fn() => serialize($keyed));
same(false, str_contains(file_get_contents("$dir/keyed"), $secret));
--EXPECT--
