<?php
/* recreated.php PORT: another process creates the filter again; the next add of a new key, which looks at the fill first, says so. */
require __DIR__ . '/../php/helpers.inc';
$client = new Redis;
$client->connect('127.0.0.1', (int) $argv[1]);
foreach ([[], ['scheme' => 'classic', 'shards' => 2], ['grow' => 2.0]] as $how) {
    $make = fn() => new BloomFilter(...$how, n: 100, p: 0.01, storage: $client, key: 'again');
    $client->flushAll();
    $make()->addMany(range(1, 50));
    $f = $make();
    same(true, $f->add('first'));           # the next add looks
    $client->flushAll();
    $make();
    try {
        $f->add('new');
        echo json_encode($how), ": no exception\n";
    } catch (BloomFilterException $e) {
        same([BloomFilterException::LOST, true], [$e->getCode(), str_contains($e->getMessage(), 'was re-created: keys added before are gone')]);
    }
    same([false, true, true], [$f->exists('new'), $f->add('new'), $f->exists('new')]);
}

# one that had grown has the parts of the new one after the error
foreach (['BloomFilter', 'CountingBloomFilter'] as $class)
    foreach ([fn($f) => $f->existMany(['a', 'b']), fn($f) => $f->addMany(['a', 'b']), fn($f) => count($f), fn($f) => $f->bitset] as $call) {
        $make = fn() => new $class(n: 20, p: 0.01, grow: 2.0, overfull: 'ignore', storage: $client, key: 'again');
        $client->flushAll();
        $f = $make();
        $f->addMany(range(1, 500));
        $client->flushAll();
        $other = $make();
        refused('BloomFilterException', 'was re-created', fn() => $call($f));
        same(300, $f->addMany(range(1, 300)) + 300 - array_sum($other->existMany(range(1, 300))));
        same([true, true, true], [$f->equals($other), $f->isCurrent(), $class::open($client, key: 'again')->equals($f)]);
    }
echo "done\n";
