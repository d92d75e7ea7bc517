--TEST--
A filter in Redis: created, and one exception for whoever had it open when it was re-created, also from an add that looks at the fill first
--FILE--
<?php require __DIR__ . '/redis.inc';
$redis = new RedisServer;
$first = new BloomFilter(n: 1000, p: 0.01, storage: $redis->url('seen'));
$second = new BloomFilter(n: 1000, p: 0.01, storage: $redis->url('seen'));
same([true, false, false], [$first->created, $second->created, BloomFilter::open($redis->url('seen'))->created]);
same(3, $first->addMany(['a', 'b', 'c']));
$redis->say('FLUSHALL');
$third = new BloomFilter(n: 1000, p: 0.01, storage: $redis->url('seen'));
same(true, $third->created);
$third->addMany(['a', 'b']);
foreach (['3' => $first, '0' => $second] as $keys => $open)      # each of the objects that were open, once
    try {
        $open->exists('c');
        echo "no exception\n";
    } catch (BloomFilterException $e) {
        same([BloomFilterException::LOST, true], [$e->getCode(), str_contains($e->getMessage(), "was re-created: keys added before are gone ($keys by this object)")]);
    }
same([true, true], [$second->exists('a'), $second->exists('b')]);
same([true, false], [$first->exists('a'), $first->exists('c')]);
$first->clear();                                    # nobody is told of a clear()
same([false, true, true], [$third->exists('a'), $third->add('d'), $first->exists('d')]);

foreach ([[], ['scheme' => 'classic', 'shards' => 2], ['grow' => 2.0]] as $how) {
    $make = fn() => new BloomFilter(...$how, n: 100, p: 0.01, storage: $redis->url('again'));
    $redis->say('FLUSHALL');
    $make()->addMany(range(1, 50));
    $f = $make();
    same(true, $f->add('first'));                   # the next add looks
    $redis->say('FLUSHALL');
    $make();
    refused('BloomFilterException', 'was re-created: keys added before are gone', fn() => $f->add('new'));
    same([false, true, true], [$f->exists('new'), $f->add('new'), $f->exists('new')]);
}

# one that had grown has the parts of the new one after the error
foreach (['BloomFilter', 'CountingBloomFilter'] as $class)
    foreach ([fn($f) => $f->existMany(['a', 'b']), fn($f) => $f->addMany(['a', 'b']), fn($f) => count($f), fn($f) => $f->bitset] as $call) {
        $make = fn() => new $class(n: 20, p: 0.01, grow: 2.0, overfull: 'ignore', storage: $redis->url('again'));
        $redis->say('FLUSHALL');
        $f = $make();
        $f->addMany(range(1, 500));
        $redis->say('FLUSHALL');
        $other = $make();
        refused('BloomFilterException', 'was re-created', fn() => $call($f));
        same(300, $f->addMany(range(1, 300)) + 300 - array_sum($other->existMany(range(1, 300))));
        same([true, true, true], [$f->equals($other), $f->isCurrent(), $class::open($redis->url('again'))->equals($f)]);
    }

# what grew unequally is united
$redis->say('FLUSHALL');
$f = new BloomFilter(n: 50, p: 0.01, grow: 2.0, storage: $redis->url('grown'));
$f->addMany(['x', 'y']);
$more = new BloomFilter(n: 50, p: 0.01, grow: 2.0);
$more->addMany(range(1, 400));
$less = new BloomFilter(n: 50, p: 0.01, grow: 2.0);
$less->add('z');
$f->merge($more);
same([400, true, count($more->partInfo())], [array_sum($f->existMany(range(1, 400))), $f->exists('x'), count($f->partInfo())]);
$less->merge($f);
$f->merge($less);
same([true, false, true], [$f->equals($less), $less->equals($more), BloomFilter::open($redis->url('grown'))->equals($less)]);
--EXPECT--
