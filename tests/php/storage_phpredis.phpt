--TEST--
A client object of phpredis or Predis as storage: the same bits, under its prefix and options, and a filter that cannot be serialized
--SKIPIF--
<?php if (!extension_loaded('redis')) die('skip phpredis is not loaded');
--FILE--
<?php require __DIR__ . '/redis.inc';
$server = new RedisServer;
$keys = urls(1000);
foreach (clients($server->port) as $kind => $connect) {
    $server->say('FLUSHALL');
    $redis = $connect();
    # (kinds and schemes, made by one and asked by another: tests/polyfill/test_redis_together.py)
    $f = new BloomFilter(n: 2000, p: 0.01, storage: $redis, key: 'seen');
    same_answers($f, new BloomFilter(n: 2000, p: 0.01), $keys, $kind);
    $copy = clone $f;
    $f->clear();
    same([false, true], [$f->exists('one'), $copy->exists('one')], $kind);
    $f->delete();
    same(0, $redis->exists('seen', 'seen:meta'), $kind);
    refused('BloomFilterException', 'is lost', fn() => $f->exists('one'));

    # counting filters, in shards, with a cache
    $how = ['n' => 2000, 'p' => 1e-4, 'shards' => 3];
    $f = new CountingBloomFilter(...$how, storage: $redis, key: 'counts', cache: true);
    $m = new CountingBloomFilter(...$how);
    same_counts($f, $m, $keys, $kind);
    $f->merge($m);
    $m->merge(clone $m);
    same([true, true, 4], [$f->equals($m), CountingBloomFilter::open($redis, key: 'counts')->equals($m), $redis->exists('counts:0', 'counts:1', 'counts:2', 'counts:meta')], $kind);
    $f->delete();
    refused('BloomFilterException', 'is lost', fn() => $f->remove('one'));
    $f = new CountingBloomFilter(n: 100, p: 0.01, storage: $redis, key: 'counts', waitReplicas: 1);
    refused('BloomFilterException', 'added, but only 0 of waitReplicas=1 replicas had it in time', fn() => $f->add('x'));
    refused('BloomFilterException', 'removed, but only 0 of waitReplicas=1 replicas had it in time', fn() => $f->remove('x'));
    $f->delete();

    # what another system made
    $old = new BloomFilter(m: 20000, scheme: 'gozero', k: 14);
    $old->add('a');
    $connect()->set('old', $old->bitset);
    $g = BloomFilter::open($connect(), key: 'old', scheme: 'gozero', m: 20000);
    same([true, false, true], [$g->exists('a'), $g->exists('b'), $g->add('b')]);
    refused('BloomFilterException', 'no :meta', fn() => $g->clear());
    refused('BloomFilterException', 'not our filter', fn() => BloomFilter::open($connect(), key: 'old'));

    $mine = new BloomFilter(n: 1000, p: 0.01, storage: $redis, key: 'mine');
    refused('BloomFilterException', 'does not exist', fn() => BloomFilter::open($redis, key: 'none'));
    refused('BloomFilterException', 'n=1000', fn() => new BloomFilter(n: 999, p: 0.01, storage: $redis, key: 'mine'));
    refused('BloomFilterException', 'client object', fn() => serialize($mine));
    refused('BloomFilterException', 'read-only', fn() => BloomFilter::open($redis, key: 'mine', readOnly: true)->add('no'));
    refused('ValueError', 'readOnly', fn() => BloomFilter::open($redis, key: 'mine', scheme: 'gozero', m: 2050, readOnly: true, adopt: true));
    foreach ([['key' => null], ['key' => ''], ['adopt' => true, 'key' => 'none']] as $wrong) refused('ValueError', '', fn() => new BloomFilter(...['storage' => $redis, 'n' => 10, 'p' => 0.1] + $wrong));

    # its prefix comes before the key
    $f = new BloomFilter(n: 1000, p: 0.01, storage: clients($server->port, 'pre:')[$kind](), key: 'seen');
    same([true, true, ":2\r"], [$f->add('a'), $f->exists('a'), substr($server->say('EXISTS pre:seen pre:seen:meta'), 0, 3)], $kind);
}

# a transaction of Predis: never a wrong answer
$server->say('FLUSHALL');
$f = new BloomFilter(n: 1000, p: 0.01, storage: $predis = clients($server->port)['Predis'](), key: 'seen');
$f->add('a');
foreach ([fn() => $f->exists('a'), fn() => $f->add('b'), fn() => $f->existMany(['a', 'b']), fn() => $f->addMany(['c', 'd']), fn() => $f->count()] as $call) {
    $predis->executeRaw(['MULTI']);
    refused('BloomFilterException', 'is in a pipeline or transaction: end it first', $call);
    $predis->executeRaw(['DISCARD']);
}
same([true, false], $f->existMany(['a', 'b']));

# Predis's replication: only the master is read, because a replica may lack the last adds
$server->say('FLUSHALL');
$replica = new RedisServer;
$replication = version_compare(Predis\Client::VERSION, '2', '<') ? true : 'predis';
$pair = new Predis\Client(["tcp://127.0.0.1:$server->port?alias=master&role=master", "tcp://127.0.0.1:$replica->port"], ['replication' => $replication]);
$f = new BloomFilter(n: 1000, p: 0.01, storage: $pair, key: 'seen');
same([true, true, 2, [true, false]], [$f->add('a'), $f->exists('a'), $f->addMany(['b', 'c']), $f->existMany(['a', 'z'])]);
same(":0\r", substr($replica->say('DBSIZE'), 0, 3));

function client(RedisServer $server): Redis { return clients($server->port)['phpredis'](); }
$redis = client($server);
# whatever options it has
foreach ([Redis::OPT_SERIALIZER => Redis::SERIALIZER_PHP, Redis::OPT_REPLY_LITERAL => true, Redis::OPT_PREFIX => 'app:'] as $option => $value) $redis->setOption($option, $value);
$f = new BloomFilter(n: 1000, p: 0.01, storage: $redis, key: 'seen');
same([true, true, 3, [true, false]], [$f->add('a'), $f->exists('a'), $f->addMany(['b', 'c', 'd']), $f->existMany(['a', 'z'])]);
same(true, str_starts_with($server->say('EXISTS app:seen app:seen:meta'), ":2\r"));
$plain = new BloomFilter(n: 1000, p: 0.01, storage: client($server), key: 'app:seen');
same([true, true], [$plain->exists('a'), $plain->add('e') && $f->exists('e')]);
$f->expire(1000);
same(1, preg_match('/^:(99\d|1000)\r/', $server->say('TTL app:seen')));
same(['value'], [$redis->set('k', 'value') ? $redis->get('k') : null]);

# arguments
$class = new class { public function __toString(): string { return sys_get_temp_dir() . '/no such folder/x'; } };
refused('BloomFilterException', 'no such folder', fn() => BloomFilter::open($class));
foreach ([new stdClass, new ArrayObject, $f] as $wrong) refused('TypeError', 'phpredis object', fn() => new BloomFilter(n: 10, p: 0.1, storage: $wrong, key: 'x'));
# the user's own pipeline stays his
$redis->pipeline();
refused('BloomFilterException', 'pipeline', fn() => $f->add('in a pipeline'));
$redis->set('mine', 1);
same([true], $redis->exec());
same([false, true], [$f->exists('in a pipeline'), $f->add('after')]);

# a check that fails is not the add's failure: the key is there
foreach (clients($server->port) as $kind => $connect) {
    $f = new BloomFilter(n: 640, p: 0.01, storage: $connect(), key: "checked $kind", overfull: 'warn');
    $server->say('ACL SETUSER default -bitcount');
    for ($i = 0; $i < 700; $i++) same(true, $f->add("key $i") || $i > 400, "$kind $i");
    $server->say('ACL SETUSER default +@all');
    same(true, $f->exists('key 699'), $kind);
}

# an object that leads back to its filter is collected
class Holder extends Redis { public $filter; public $dead; function __destruct() { $this->dead->done = true; } }
$sign = new stdClass;
$h = new Holder;
$h->dead = $sign;
$h->connect('127.0.0.1', $server->port);
$h->filter = new BloomFilter(n: 10, p: 0.1, storage: $h, key: 'held');
$h->filter->add('x');
unset($h);
gc_collect_cycles();
same(true, isset($sign->done));
--EXPECT--
