--TEST--
A generator whose filter is asked, copied, merged, closed or serialized between two keys
--FILE--
<?php require __DIR__ . '/helpers.inc';
function f(): BloomFilter { return $GLOBALS['f']; }
$other = new BloomFilter(n: 10000, p: 0.01);
$other->add('other');
$ways = ['ask' => fn() => f()->exists('k1'), 'add' => fn() => f()->addMany(['in', 'side']), 'clone' => fn() => clone f(), 'merge' => fn() => f()->merge($other), 'merged' => fn() => $other->merge(f()),
    'union' => fn() => f()->union($other), 'bytes' => fn() => unserialize(serialize(f())), 'clear' => fn() => f()->clear(), 'construct' => fn() => refused('Error', 'already', fn() => f()->__construct(1, 1)),
    'unserialize' => fn() => refused('Error', 'already', fn() => f()->__unserialize(['bytes' => $other->toBytes()]))];
foreach ($ways as $name => $way) {
    foreach (['addMany', 'rebuild'] as $method) {
        $f = new BloomFilter(n: 10000, p: 0.01);
        $keys = (function () use ($way) { for ($i = 0; $i < 1000; $i++) { yield "k$i"; if ($i % 300 === 7) $way(); } })();
        same(true, $f->$method($keys) > 900, $name);
        same(true, $f->exists('k999'), $name);
    }
}
$f = new BloomFilter(n: 10000, p: 0.01);
refused('BloomFilterException', 'closed', fn() => $f->addMany((function () use (&$f) { yield 'a'; $f->close(); $f = null; gc_collect_cycles(); yield 'b'; })()));
--EXPECT--
