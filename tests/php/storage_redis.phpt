--TEST--
A filter in Redis answers as one in memory, is opened again, and is gone only with an exception
--INI--
bloomfilter.unserialize_storage=1
--FILE--
<?php require __DIR__ . '/redis.inc';
$redis = new RedisServer;
$url = $redis->url('seen');
$keys = urls(1000);
$how = ['n' => 2000, 'p' => 1e-4];
same_answers(new BloomFilter(...$how, storage: $redis->url('bits')), new BloomFilter(...$how), $keys, 'bits');
[$f, $m] = [new CountingBloomFilter(...$how, storage: $redis->url('counters')), new CountingBloomFilter(...$how)];
same_counts($f, $m, $keys, 'counters');
same([true, true, $m->bitset], [$f->info()['counting'], CountingBloomFilter::open($redis->url('counters'))->equals(unserialize(serialize($f))), $f->bitset]);
refused('BloomFilterException', 'is a counting filter, asked for a plain one', fn() => BloomFilter::open($redis->url('counters')));
$f->delete();
foreach ([fn() => $f->remove('x'), fn() => $f->add('x'), fn() => $f->countOf('x'), fn() => $f->removeMany(['x'])] as $call) refused('BloomFilterException', 'is lost', $call);

# opened again, here and in another process
$f = new BloomFilter(n: 1000, p: 0.01, storage: $url);
$f->add('kept');
$g = BloomFilter::open($url);
same([$f->m, 1000, $f->k, 'block', true], [$g->m, $g->n, $g->k, $g->scheme, $g->exists('kept')]);
same([true, true], [$g->add('from g'), $f->exists('from g')]);
same('101', in_other_php('$f = BloomFilter::open(' . var_export($url, true) . '); echo (int)$f->exists("kept"), (int)$f->exists("none"), (int)$f->add("there");'));
same(true, $f->exists('there'));
refused('BloomFilterException', 'read-only', fn() => BloomFilter::open($url, readOnly: true)->add('no'));

# copies are in memory
$copy = clone $f;
$copy->add('in the copy');
same([false, true, true], [$f->exists('in the copy'), $copy->exists('kept'), $f->union($copy)->exists('in the copy')]);
$f->clear();
same([false, false, true, true], [$f->exists('kept'), $g->exists('kept'), $g->add('kept'), $copy->exists('kept')]);

# serialized: the URL, the key where it was given apart
same(['storage' => $url], $f->__serialize());
same(true, unserialize(serialize($f))->exists('kept'));
$bare = strstr($url, '?', true);
$h = BloomFilter::open($bare, key: 'seen');
same(['storage' => $bare, 'key' => 'seen'], $h->__serialize());
same([true, true], [unserialize(serialize($h))->add('by h'), $f->exists('by h')]);
$r = unserialize(serialize(BloomFilter::open($url, key: 'seen', readOnly: true)));
same(true, $r->exists('kept'));
refused('BloomFilterException', 'read-only', fn() => $r->add('no'));
refused('BloomFilterException', 'read-only', fn() => $r->delete());
refused('ValueError', 'NUL', fn() => unserialize(str_replace('s:4:"seen"', "s:4:\"s\0en\"", serialize($h))));
refused('ValueError', 'NUL', fn() => unserialize(str_replace('key=seen', "key=se\0n", serialize($f))));

# expire and delete
$f->expire(0.001);
while (!str_starts_with($redis->say('EXISTS seen'), ":0\r"));
try { $f->exists('kept'); echo 'not lost'; } catch (BloomFilterException $e) { same([BloomFilterException::LOST, true], [$e->getCode(), str_contains($e->getMessage(), 'is lost')]); }
$new = new BloomFilter(n: 1000, p: 0.01, storage: $url);
$new->delete();
same(true, str_starts_with($redis->say('EXISTS seen seen:meta'), ":0\r"));
foreach ([fn() => $f->exists('anew'), fn() => $f->add('x'), fn() => $f->addMany(['x']), fn() => $f->existMany(['x']), fn() => $f->bitset, fn() => clone $f] as $call)
    refused('BloomFilterException', 'is lost', $call);
foreach ([new BloomFilter(100, 10), new BloomFilter(100, 10, storage: "$redis->dir/a.bloom")] as $other) {
    refused('BloomFilterException', 'only filters in Redis', fn() => $other->expire(1));
    refused('BloomFilterException', 'only filters in Redis', fn() => $other->delete());
}
$f->close();
refused('BloomFilterException', 'closed', fn() => $f->expire(1));
refused('BloomFilterException', 'closed', fn() => $f->delete());
--EXPECT--
