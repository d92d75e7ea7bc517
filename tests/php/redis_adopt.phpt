--TEST--
adopt: a bitmap that another system fills becomes a filter of ours too, and that system goes on
--FILE--
<?php require __DIR__ . '/redis.inc';
$redis = new RedisServer;
$url = $redis->url('theirs');
$number = fn(string $command) => (int)substr($redis->say($command), 1);
$gozero = ['m' => 2050, 'scheme' => 'gozero'];
$scale = new BloomFilter(...$gozero);       # tests/vectors has go-zero's positions for hashcode
$they_add = function (int $from, int $to) use ($redis, $scale) {
    for ($i = $from; $i < $to; $i++) foreach ($scale->hashcode("n$i") as $position) $redis->say("SETBIT theirs $position 1");
};
$they_have = function (int $from, int $to) use ($number, $scale) {
    for ($i = $from; $i < $to; $i++) foreach ($scale->hashcode("n$i") as $position) if (!$number("GETBIT theirs $position")) return false;
    return true;
};
$they_add(0, 20);
$f = BloomFilter::open($url, ...$gozero);               # as it is: kept by the worker, and not the one below
refused('BloomFilterException', 'cannot be cleared', fn() => $f->clear());
$f = BloomFilter::open($url, ...$gozero, adopt: true);
$g = BloomFilter::open($url);
same(['gozero', 2050, 14], [$g->scheme, $g->m, $g->k]);
$they_add(20, 30);
for ($i = 0; $i < 30; $i++) same([true, true], [$f->exists("n$i"), $g->exists("n$i")]);
$g->add('n30');
same(true, $they_have(0, 31));
$f->clear();
same([false, false], [$g->exists('n1'), $they_have(1, 2)]);
$they_add(0, 10);
for ($i = 0; $i < 10; $i++) same(true, $g->exists("n$i"));
$f->rebuild(['n40', 'n41']);
$they_add(42, 45);
same([true, true, true, true], [$they_have(40, 45), $g->exists('n40'), $g->exists('n44'), $f->exists('n42')]);
$f->expire(1000);
same(true, $number('TTL theirs') > 900 && $number('TTL theirs:meta') > 900);
$redis->say('DEL theirs');
$they_add(0, 5);
refused('BloomFilterException', 'is lost', fn() => $g->exists('n1'));
$f = BloomFilter::open($url, ...$gozero, adopt: true);
same([true, true], [$f->exists('n1'), $g->exists('n2')]);
$f->delete();
same(0, $number('DBSIZE'));
refused('ValueError', 'no Redis is given', fn() => new BloomFilter(100, 10, adopt: true));
refused('ValueError', 'adopt writes to the filter: readOnly must not be given', fn() => BloomFilter::open($url, ...$gozero, readOnly: true, adopt: true));
--EXPECT--
