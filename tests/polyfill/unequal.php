<?php
/* unequal.php PORT: growing filters that grew unequally are united, in Redis and in memory. */
$redis = new Redis;
$redis->connect('127.0.0.1', (int) $argv[1]);
$redis->flushAll();
$a = new BloomFilter(n: 50, p: 0.01, grow: 2.0, storage: $redis, key: 'g'); $a->addMany(['x', 'y']);
$b = new BloomFilter(n: 50, p: 0.01, grow: 2.0); $b->addMany(range(1, 400));
$a->merge($b); echo strlen($a->bitset), ' ', md5($a->bitset), ' ', count($a->partInfo()), ' ', json_encode(array_column($a->partInfo(), 'keys')), array_sum($a->existMany(range(1, 400))), $a->exists('x'), "\n";
$h = $redis->hGetAll('g:meta'); unset($h['mark'], $h['born']); ksort($h); echo json_encode($h), "\n";
$c = new BloomFilter(n: 50, p: 0.01, grow: 2.0); $c->add('z'); $c->merge($a); echo md5($c->toBytes()), "\n";
$a->merge($c); echo md5($a->bitset), json_encode($a->equals($c)), json_encode($c->equals($b)), "\n";
