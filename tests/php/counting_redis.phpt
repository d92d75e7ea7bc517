--TEST--
CountingBloomFilter in Redis: an exact multiset, the same counters as in memory, lost keys
--INI--
bloomfilter.unserialize_storage=1
--FILE--
<?php require __DIR__ . '/redis.inc';
$redis = new RedisServer;
$f = new CountingBloomFilter(n: 4000, p: 1e-8, storage: $redis->url('counters'));
$memory = new CountingBloomFilter(n: 4000, p: 1e-8);
$exact = array_fill(0, 1000, 0);
mt_srand(3);
for ($round = 0; $round < 50; $round++) {
    $keys = [];
    for ($i = 0; $i < 2000; $i++) $keys[] = mt_rand(0, 999);
    $add = mt_rand(0, 99) < 55;
    $want = 0;
    foreach ($keys as $key) {
        $want += $add ? $exact[$key] === 0 : $exact[$key] > 0;
        if ($add) $exact[$key] = min($exact[$key] + 1, 15);
        elseif ($exact[$key] > 0 && $exact[$key] < 15) $exact[$key]--;
    }
    same([$want, $want], $add ? [$f->addMany($keys), $memory->addMany($keys)] : [$f->removeMany($keys), $memory->removeMany($keys)]);
}
$wrong = 0;
foreach (array_values($f->existMany(array_keys($exact))) as $key => $there) $wrong += $there !== ($exact[$key] > 0);
foreach (array_slice($exact, 0, 100, true) as $key => $n) $wrong += $f->countOf($key) < $n;
same([0, true, $memory->bitset], [$wrong, $f->equals($memory), $f->bitset]);
same([true, 1, true, false], [$f->add('x'), $f->countOf('x'), $f->remove('x'), $f->remove('x')]);
$info = $f->info();
same(['redis', true], [$info['home'], $info['counting']]);
same([true, true], [CountingBloomFilter::open($redis->url('counters'))->equals($memory), unserialize(serialize($f))->equals($memory)]);
refused('BloomFilterException', 'is a counting filter, asked for a plain one', fn() => BloomFilter::open($redis->url('counters')));
$f->merge($memory);
$memory->merge(clone $memory);
same([true, true], [$f->equals($memory), $f->toPlain()->equals($memory->toPlain())]);
$redis->say('DEL counters');
foreach ([fn() => $f->remove('x'), fn() => $f->add('x'), fn() => $f->countOf('x'), fn() => $f->removeMany(['x'])] as $call) refused('BloomFilterException', 'is lost', $call);
same(true, str_starts_with($redis->say('EXISTS counters'), ":0\r"));
--EXPECT--
