--TEST--
Bitmaps in Redis that go-zero, the three-hash PHP class and Redisson fill are opened and gone on with
--INI--
bloomfilter.unserialize_storage=1
--FILE--
<?php require __DIR__ . '/redis.inc';
require __DIR__ . '/vectors.inc';
ini_set('bloomfilter.warn', '0');          # BKDR and SDBM are weak: weak_hashes.phpt
$redis = new RedisServer;
$url = $redis->url('theirs');
$number = fn(string $command) => (int)substr($redis->say($command), 1);
# keys of tests/vectors that are written in hexadecimal, and the positions that those systems gave them, below 2^30
$bytes = [];
foreach (vector_lines('keys.txt') as $line) if ($line[1] === 'hex') $bytes[$line[0]] = $line[2] === '-' ? '' : hex2bin($line[2]);
$rows = function (string $scheme, int $m, int $k, int $n) use ($bytes) {
    $rows = [];
    $inside = false;
    foreach (vector_lines('positions.txt') as $line) {
        if ($line[0] === '=') $inside = $line[1] === $scheme && $line[2] === (string)$m;
        elseif ($inside && isset($bytes[$line[0]]) && max($positions = array_map(intval(...), array_slice($line, 1, $k))) < 2 ** 30)
            $rows[] = [$bytes[$line[0]], $positions];
    }
    return array_slice($rows, 0, $n);
};
foreach ([['gozero', 20480, 14, 30, ['m' => 20480]], ['php-hashes:BKDR,SDBM,JS', 2 ** 32, 3, 3, []], ['redisson', 958, 7, 10, ['m' => 958, 'k' => 7]]] as [$scheme, $m, $k, $n, $given]) {
    $all = $rows($scheme, $m, $k, $n);
    $ours = array_pop($all);
    same($n - 1, count($all), $scheme);
    foreach ([[], $given] as $arguments) refused('BloomFilterException', 'does not exist', fn() => BloomFilter::open($url, ...$arguments, scheme: $scheme));
    same(0, $number('DBSIZE'), $scheme);
    foreach ($all as [, $positions]) foreach ($positions as $position) $redis->say("SETBIT theirs $position 1");
    $length = $number('STRLEN theirs');
    if ($given) refused('ValueError', 'the size is not known', fn() => BloomFilter::open($url, scheme: $scheme));
    refused('BloomFilterException', 'not our filter', fn() => new BloomFilter(...$given, scheme: $scheme, storage: $url));
    $f = BloomFilter::open($url, ...$given, scheme: $scheme);
    same([$m, $k, $scheme], [$f->m, $f->k, $f->scheme]);
    same($n - 1, count(array_filter($f->existMany(array_column($all, 0)))), $scheme);
    same([$length, 1], [$number('STRLEN theirs'), $number('DBSIZE')], $scheme);
    $f->add($ours[0]);
    foreach ($ours[1] as $position) same(1, $number("GETBIT theirs $position"), $scheme);
    same(intdiv(max(array_merge(...array_column([...$all, $ours], 1))), 8) + 1, $number('STRLEN theirs'), $scheme);
    refused('BloomFilterException', 'cannot be cleared', fn() => $f->clear());
    same(1, $number('DBSIZE'), $scheme);
    unset($f);
    $redis->say('FLUSHALL');
}

# Redisson's hash says what the bits are
$redis->say('HMSET {theirs}:config size 958 hashIterations 7 expectedInsertions 100 falseProbability 0.01');
$f = BloomFilter::open($url, scheme: 'redisson');
same([958, 7, 100], [$f->m, $f->k, $f->n]);
same(true, $f->p > 0.012 && $f->p < 0.0125);      // 0.01, and what its walk costs
[[$key, $positions]] = $rows('redisson', 958, 7, 1);
foreach ($positions as $position) $redis->say("SETBIT theirs $position 1");
same([true, true], [$f->exists($key), unserialize(serialize($f))->exists($key)]);
$redis->say('FLUSHALL');
refused('BloomFilterException', 'is lost', fn() => $f->exists($key));
$f = new BloomFilter(n: 100, p: 0.01, scheme: 'redisson', storage: $url);
same([958, 7, true, 2], [$f->m, $f->k, $f->add('x'), $number('DBSIZE')]);
same(true, str_contains($redis->say('HGET {theirs}:config falseProbability'), '0.01'));

# n alone, where the scheme fixes the rest
foreach (['gozero', 'rs-rand'] as $scheme)
    foreach ([$redis->url($scheme), "$redis->dir/$scheme.bloom"] as $storage) same(true, (new BloomFilter(n: 1000, scheme: $scheme, storage: $storage))->add('x'));
--EXPECT--
