--TEST--
isCurrent(): does the name by which the filter was opened still belong to it? An exception if Redis does not say it
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
    if (!$how) $f->rebuild(['a']);
    same([true, true], [$f->isCurrent(), $reader->isCurrent()]);
    $memory->save("$dir/new");
    rename("$dir/new", "$dir/f");
    same([false, false, true], [$f->isCurrent(), $reader->isCurrent(), BloomFilter::open("$dir/f")->isCurrent()]);
    $f = BloomFilter::open("$dir/f");
    unlink("$dir/f");
    same(false, $f->isCurrent());
    $memory->save("$dir/f");
    same([false, true], [$f->isCurrent(), BloomFilter::open("$dir/f")->isCurrent()]);
    same(true, (new BloomFilter(...$given, storage: "$dir/k", secret: str_repeat('s', 16)))->isCurrent());
    array_map(unlink(...), ["$dir/f", "$dir/k"]);
}

$redis = new RedisServer;
foreach ([[], ['m' => 5000], ['grow' => 2.0], ['shards' => 3], ['class' => 'CountingBloomFilter']] as $shape => $given) {
    $class = $given['class'] ?? 'BloomFilter';
    unset($given['class']);
    $make = fn() => new $class(...$given, n: 100, p: 0.01, storage: $redis->url('seen'));
    $redis->say('FLUSHALL');
    [$f, $other] = [$make(), $make()];
    $other->clear();
    same([true, true], [$f->isCurrent(), $other->isCurrent()], "shape $shape");
    $key = isset($given['shards']) ? 'seen:1' : 'seen';
    $redis->say("DEL $key");
    same([false, false], [$f->isCurrent(), $other->isCurrent()], "shape $shape, deleted");
    $redis->say("LPUSH $key x");
    same(false, $f->isCurrent(), "shape $shape, another type");
    $redis->say('FLUSHALL');
    same([true, false], [$make()->isCurrent(), $f->isCurrent()], "shape $shape, re-created");
}
$redis->stop();
try { $f->isCurrent(); echo "no exception\n"; } catch (BloomFilterException $e) { same(BloomFilterException::IO, $e->getCode(), $e->getMessage()); }
$f->close();
refused('BloomFilterException', 'closed', fn() => $f->isCurrent());
--EXPECT--
