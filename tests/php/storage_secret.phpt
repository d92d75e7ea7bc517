--TEST--
A keyed file opens with its secret only, kept open or not
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
$secret = str_repeat('k', 16); $other = str_repeat('o', 16);
$f = new BloomFilter(n: 1000, p: 0.001, secret: $secret, storage: "$dir/keyed");
$f->addMany(urls(100));
$plain = new BloomFilter(n: 1000, p: 0.001, storage: "$dir/plain");
function openers(string $path, ?string $secret): array
{
    return [fn() => BloomFilter::open($path, $secret), fn() => BloomFilter::open($path, $secret, readOnly: true),
            fn() => new BloomFilter(n: 1000, p: 0.001, secret: $secret, storage: $path), fn() => new BloomFilter(secret: $secret, storage: $path)];
}
for ($round = 0; $round < 2; $round++) {                    # in the second all are kept open
    foreach (openers("$dir/keyed", $secret) as $open) same([100, true], [array_sum($open()->existMany(urls(100))), $open()->equals($f)]);
    foreach (openers("$dir/keyed", null) as $open) refused('BloomFilterException', 'is keyed: its secret must be given', $open);
    foreach (openers("$dir/keyed", $other) as $open) refused('BloomFilterException', 'is keyed with another secret', $open);
    foreach (openers("$dir/plain", $secret) as $open) refused('BloomFilterException', 'is not keyed, but a secret was given', $open);
    foreach (openers("$dir/keyed", 'short') as $open) refused('ValueError', '16 bytes', $open);
    foreach (openers("$dir/plain", null) as $open) same(true, $open()->equals($plain));
}
unset($f);
refused('BloomFilterException', 'secret', fn() => BloomFilter::open("$dir/keyed"));
same(false, str_contains(file_get_contents("$dir/keyed"), $secret));
refused('BloomFilterException', 'keyed', fn() => serialize(BloomFilter::open("$dir/keyed", $secret)));
same('the secret must be given', in_other_php('try { BloomFilter::open(' . var_export("$dir/keyed", true) . '); } catch (BloomFilterException $e) { if (str_contains($e->getMessage(), "its secret must be given")) echo "the secret must be given"; }'));
same([4, ['keyed', 'plain']], [kept(), names_in($dir)]);
--EXPECT--
