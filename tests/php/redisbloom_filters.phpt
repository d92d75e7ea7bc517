--TEST--
Filters of RedisBloom as BF.SCANDUMP gave them: the same answers, the same bytes both ways; places without the module
--FILE--
<?php require __DIR__ . '/helpers.inc';
require __DIR__ . '/vectors.inc';
$urls = fn(int $salt, int $n) => array_map(fn($i) => vector_url($salt, $i), $n ? range(0, $n - 1) : []);
foreach (vector_lines('redisbloom.txt') as [$n, $p, $grow, $adds, $new, $probes, $found, $links, $sha, , $whole]) {
    $filters = [];
    if ($grow <= 1024) {
        $own = new BloomFilter(n: (int)$n, p: (float)$p, scheme: 'redisbloom', grow: $grow ? (float)$grow : null);
        same((int)$new, $own->addMany($urls(13, (int)$adds)), "$n $p new");
        if ($grow) same($sha, hash('sha256', $own->toBytes('redisbloom')), "$n $p bytes");
        $filters[] = $own;
    }
    if ($whole !== '-') {
        $filters[] = $f = BloomFilter::fromBytes(hex2bin($whole), format: 'redisbloom');
        same($whole, bin2hex($f->toBytes('redisbloom')), "$n $p back");
    }
    foreach ($filters as $f) {
        same(true, $f->equals($filters[0]), "$n $p");
        same((int)$found, array_sum($f->existMany($urls(14, (int)$probes))), "$n $p found");
    }
}
refused('BloomFilterException', 'RedisBloom', fn() => BloomFilter::fromBytes('no dump', format: 'redisbloom'));
refused('ValueError', 'module RedisBloom', fn() => BloomFilter::fromRedisBloom('seen.bloom', 'seen'));
refused('ValueError', 'scheme redisbloom', fn() => (new BloomFilter(n: 10, p: 0.1))->toRedisBloom('redis://127.0.0.1:1/0', 'seen'));
refused('TypeError', '', fn() => BloomFilter::fromRedisBloom(new stdClass, 'seen'));
echo "done\n";
--EXPECT--
done
