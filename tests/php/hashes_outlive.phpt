--TEST--
What is made from a filter with hash functions of its own has them too: toPlain() after the counting filter is gone, rebuild() whose generator closes it
--FILE--
<?php require __DIR__ . '/helpers.inc';
function hashes(): array
{
    $salt = str_repeat('x', 20);
    return [fn($key) => crc32($salt . $key), fn($key) => crc32($key . $salt) * 31];
}

$counting = new CountingBloomFilter(m: 10000, hashes: hashes());
$counting->addMany(range(1, 100));
$plain = $counting->toPlain();
unset($counting);
$junk = array_map(fn($i) => [fn() => $i], range(1, 1000));
same(100, array_sum($plain->existMany(range(1, 100))), 'plain');

$f = new BloomFilter(m: 10000, hashes: hashes());
$keys = function () use (&$f) {
    for ($i = 0; $i < 5000; $i++) {
        if ($i === 700) $f->close();
        yield $i;
    }
};
try {
    $f->rebuild($keys());
    echo "rebuilt\n";
} catch (BloomFilterException | LogicException | ValueError | Error $e) {
    echo get_class($e), "\n";
}
echo "done\n";
--EXPECTF--
%s
done
