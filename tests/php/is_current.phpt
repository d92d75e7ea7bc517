--TEST--
isCurrent(): does the name by which the filter was opened still belong to it? An exception if Redis does not say it
--FILE--
<?php require __DIR__ . '/redis.inc';
$path = folder() . '/f';
$memory = new BloomFilter(n: 100, p: 0.01);
same([true, true], [$memory->isCurrent(), (clone $memory)->isCurrent()]);
$memory->save($path);
$f = BloomFilter::open($path, readOnly: true);
same(true, $f->isCurrent());
$memory->save("$path.new");
rename("$path.new", $path);
same([false, true], [$f->isCurrent(), ($f = BloomFilter::open($path, readOnly: true))->isCurrent()]);
unlink($path);
same(false, $f->isCurrent());

$redis = new RedisServer;
foreach ([[], ['grow' => 2.0], ['shards' => 3]] as $shape => $given) {
    $make = fn() => new BloomFilter(...$given, n: 100, p: 0.01, storage: $redis->url('seen'));
    $redis->say('FLUSHALL');
    [$f, $other] = [$make(), $make()];
    $other->clear();
    same([true, true], [$f->isCurrent(), $other->isCurrent()], "shape $shape");
    $redis->say('FLUSHALL');
    same(false, $f->isCurrent(), "shape $shape, deleted");
    same([true, false], [$make()->isCurrent(), $f->isCurrent()], "shape $shape, re-created");
}
$redis->stop();
try { $f->isCurrent(); echo "no exception\n"; } catch (BloomFilterException $e) { same(BloomFilterException::IO, $e->getCode(), $e->getMessage()); }
$f->close();
refused('BloomFilterException', 'closed', fn() => $f->isCurrent());
--EXPECT--
