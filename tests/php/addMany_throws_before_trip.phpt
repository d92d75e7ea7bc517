--TEST--
An exception of a generator or a key: the keys before it are added where a client or a clock is asked too, and it stands
--SKIPIF--
<?php if (!extension_loaded('redis')) die('skip phpredis is not loaded');
--FILE--
<?php require __DIR__ . '/redis.inc';
$server = new RedisServer;
class Late { public function __toString(): string { throw new LogicException('late'); } }
function keys(array $keys): Generator { yield from $keys; throw new LogicException('dry'); }
function client(RedisServer $server): Redis { $r = new Redis; $r->connect('127.0.0.1', $server->port, 5); return $r; }
$broken = false;
$filters = ['client' => new BloomFilter(n: 1000, p: 1e-6, storage: $r = client($server), key: 'f'),
    'clock' => new BloomFilter(n: 1000, p: 1e-6, window: 60, clock: function () use (&$broken) { return $broken ? throw new DomainException('stopped') : 1e9; }),
    'memory' => new BloomFilter(n: 1000, p: 1e-6)];
foreach ($filters as $home => $f) {
    $sure = fn(array $keys) => same([], array_diff($keys, array_keys(array_filter($f->existMany(array_combine($keys, $keys))))), $home);
    refused('LogicException', 'dry', fn() => $f->addMany(keys(['a', 'b'])));
    $sure(['a', 'b']);
    refused('LogicException', 'dry', fn() => $f->addMany(keys(urls(300))));
    $sure(urls(300));
    refused('LogicException', 'late', fn() => $f->addMany(['c', new Late, 'never']));
    refused('LogicException', 'late', fn() => $f->addNew(['d', new Late, 'never']));
    refused('LogicException', 'late', fn() => $f->existMany(['d', new Late]));
    $sure(['c', 'd']);
    same(false, $f->exists('never'), $home);
}

/* What goes wrong with those keys is said, and why there are no more. */
$causes = function (callable $call): array {
    try { $call(); } catch (Throwable $e) { for ($all = []; $e; $e = $e->getPrevious()) $all[] = get_class($e); return $all; }
    return [];
};
$broken = true;
same(['DomainException', 'LogicException'], $causes(fn() => $filters['clock']->addMany(keys(['e']))));
$r->multi();
same(['BloomFilterException', 'LogicException'], $causes(fn() => $filters['client']->addMany(keys(['e']))));
$r->discard();
refused('LogicException', 'dry', fn() => $filters['client']->rebuild(keys(['x'])));
same([true, false], [$filters['client']->exists('a'), $filters['client']->exists('x')]);
--EXPECT--
