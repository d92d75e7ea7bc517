--TEST--
An exception of a generator, an iterator or a key goes through addMany(): the keys before it are added, also where a client or a clock is asked too
--SKIPIF--
<?php if (!extension_loaded('redis')) die('skip phpredis is not loaded');
--FILE--
<?php require __DIR__ . '/redis.inc';
$server = new RedisServer;
class Late { public function __toString(): string { throw new LogicException('late'); } }
class Moody implements IteratorAggregate { public function getIterator(): Iterator { throw new LogicException('none'); } }
/** Keys s0 to s4; one of its methods throws, at the third key. */
class Steps implements Iterator
{
    private int $i = 0;
    public function __construct(private string $bad) {}
    private function at(string $name): void { if ($name === $this->bad && ($this->i === 2 || $name === 'rewind')) throw new LogicException("in $name"); }
    public function rewind(): void { $this->at('rewind'); }
    public function valid(): bool { $this->at('valid'); return $this->i < 5; }
    public function current(): mixed { $this->at('current'); return "s$this->i"; }
    public function key(): mixed { $this->at('key'); return $this->i; }
    public function next(): void { $this->i++; $this->at('next'); }
}
function dry(array $keys): Generator { yield from $keys; throw new LogicException('dry'); }
$redis = new Redis;
$redis->connect('127.0.0.1', $server->port, 5);
$broken = false;
$size = ['n' => 1000, 'p' => 1e-6];
$filters = ['memory' => new BloomFilter(...$size), 'client' => new BloomFilter(...$size, storage: $redis, key: 'f')];
if (is_extension()) $filters['clock'] = new BloomFilter(...$size, window: 60, clock: function () use (&$broken) { return $broken ? throw new DomainException('stopped') : 1e9; });
$used = (fn() => yield 'used')();
foreach ($used as $key);
# what is added, of whom, and the message
$sources = [[['a', 'b'], dry(...), 'dry'], [urls(300), dry(...), 'dry'], [[], dry(...), 'dry'], [['c'], fn() => ['c', new Late, 'never'], 'late'], [[], fn() => new Moody, 'none'],
    [[], fn() => new Steps('rewind'), 'in rewind'], [['s0', 's1'], fn() => new Steps('valid'), 'in valid'], [['s0', 's1'], fn() => new Steps('current'), 'in current'],
    [['s0', 's1'], fn() => new Steps('next'), 'in next'], [[], fn() => $used, 'closed generator']];
foreach ($filters as $home => $f) {
    foreach ($sources as [$keys, $source, $says]) {
        $f->clear();
        refused($says === 'closed generator' ? 'Exception' : 'LogicException', $says, fn() => $f->addMany($source($keys)));
        same($keys, array_keys(array_filter($f->existMany(array_combine($ask = array_merge($keys, ['s2', 'never']), $ask)))), "$home $says");
    }
    same(5, $f->addMany(new Steps('none')));
    refused('LogicException', 'late', fn() => $f->addNew(['d', new Late, 'never']));
    refused('LogicException', 'late', fn() => $f->existMany(['d', new Late]));
    same([true, false], [$f->exists('d'), $f->exists('never')], $home);
}

/* What goes wrong with those keys is said, and why there are no more. */
$causes = function (callable $call): array {
    try { $call(); } catch (Throwable $e) { for ($all = []; $e; $e = $e->getPrevious()) $all[] = get_class($e); return $all; }
    return [];
};
$broken = true;
if (is_extension()) same(['DomainException', 'LogicException'], $causes(fn() => $filters['clock']->addMany(dry(['e']))));
$redis->multi();
same(['BloomFilterException', 'LogicException'], $causes(fn() => $filters['client']->addMany(dry(['e']))));
$redis->discard();
refused('LogicException', 'dry', fn() => $filters['client']->rebuild(dry(['x'])));
same([true, false], [$filters['client']->exists('d'), $filters['client']->exists('x')]);
--EXPECT--
