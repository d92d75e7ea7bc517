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
echo "done\n";
