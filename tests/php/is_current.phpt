--TEST--
isCurrent(): does the name by which the filter was opened still belong to it?
--FILE--
<?php require __DIR__ . '/redis.inc';
$dir = folder();
foreach ([[], ['grow' => 2.0], ['window' => 60]] as $how) {
    $given = ['n' => 100, 'p' => 0.01, 'overfull' => 'ignore'] + $how;
    $memory = new BloomFilter(...$given);
    same([true, true], [$memory->isCurrent(), (clone $memory)->isCurrent()]);
    $f = new BloomFilter(...$given, storage: "$dir/f");
    $reader = BloomFilter::open("$dir/f", readOnly: true);
    $f->addMany(urls(500));
    if (!isset($how['window'])) $how || $f->rebuild(['a']);
    same([true, true], [$f->isCurrent(), $reader->isCurrent()]);
    $memory->save("$dir/new");
    rename("$dir/new", "$dir/f");
    same([false, false, true], [$f->isCurrent(), $reader->isCurrent(), BloomFilter::open("$dir/f")->isCurrent()]);
    $f = BloomFilter::open("$dir/f");
    unlink("$dir/f");
    same(false, $f->isCurrent());
    $f->isCurrent() || $memory->save("$dir/f");
    same([false, true], [$f->isCurrent(), BloomFilter::open("$dir/f")->isCurrent()]);
    $keyed = new BloomFilter(...$given, storage: "$dir/k", secret: str_repeat('s', 16));
    same(true, $keyed->isCurrent());
    unlink("$dir/f");
    unlink("$dir/k");
}
$server = new RedisServer;
$f = new BloomFilter(n: 100, p: 0.01, storage: $server->url('f'));
same(true, $f->isCurrent());
$server->say('FLUSHALL');
same(false, $f->isCurrent());
$f->close();
refused('BloomFilterException', 'closed', fn() => $f->isCurrent());
--EXPECT--
