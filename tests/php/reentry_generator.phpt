--TEST--
While a generator is read the filter is nobody's: it is asked, copied, merged, closed or serialized between two keys, by Fibers too
--FILE--
<?php require __DIR__ . '/helpers.inc';
function f(): BloomFilter { return $GLOBALS['f']; }
$other = new BloomFilter(n: 10000, p: 1e-9);
$other->add('other');
$ways = ['ask' => fn() => f()->exists('k1'), 'add' => fn() => f()->addMany(['in', 'side']), 'clone' => fn() => clone f(), 'merge' => fn() => f()->merge($other), 'merged' => fn() => $other->merge(f()),
    'union' => fn() => f()->union($other), 'bytes' => fn() => unserialize(serialize(f())), 'clear' => fn() => f()->clear(), 'construct' => fn() => refused('Error', 'already', fn() => f()->__construct(1, 1)),
    'unserialize' => fn() => refused('Error', 'already', fn() => f()->__unserialize(['bytes' => $other->toBytes()]))];
foreach ($ways as $name => $way) {
    foreach (['addMany', 'rebuild'] as $method) {
        $f = new BloomFilter(n: 10000, p: 1e-9);
        $keys = (function () use ($way) { for ($i = 0; $i < 1000; $i++) { yield "k$i"; if ($i % 300 === 7) $way(); } })();
        same(true, $f->$method($keys) > 900, $name);
        same(true, $f->exists('k999'), $name);
    }
}
$f = new BloomFilter(n: 10000, p: 1e-9);
refused('BloomFilterException', 'closed', fn() => $f->addMany((function () use (&$f) { yield 'a'; $f->close(); $f = null; gc_collect_cycles(); yield 'b'; })()));

$batch = urls(200);
$f = new BloomFilter(n: 10_000, p: 1e-9);
$keys = function () use ($batch) { foreach ($batch as $i => $key) { if ($i % 50 === 49) Fiber::suspend($i); yield $key; } };
$one = new Fiber(fn() => $f->addMany($keys()));
for ($at = $one->start(); !$one->isTerminated(); $at = $one->resume())
    same([true, true, false], [$f->add("between $at"), $f->exists("between $at"), $f->exists('none')]);
same([200, 200], [$one->getReturn(), array_sum($f->existMany($batch))]);
$one = new Fiber(fn() => $f->rebuild($keys()));
for ($at = $one->start(); !$one->isTerminated(); $at = $one->resume()) same(true, $f->add("rebuilding $at") && $f->exists('between 49'));
same([200, [true, false]], [$one->getReturn(), $f->existMany(['rebuilding 49', 'between 49'])]);
/* To its end, whatever else happened. */
function ended(Fiber $one): mixed { while (!$one->isTerminated()) $one->resume(); return $one->getReturn(); }
$one = new Fiber(fn() => $f->rebuild($keys()));
$one->start();
same([1, true], [$f->rebuild(['other']), $f->add('later')]);             # ends the rebuild before it
refused('BloomFilterException', 'rebuild', fn() => ended($one));
same([true, true, false], [$f->exists('other'), $f->exists('later'), $f->exists($batch[7])]);
$one = new Fiber(fn() => $f->rebuild($keys()));
$one->start();
$one = null;                                                             # never resumed: nothing was replaced
same([true, 1, false], [$f->exists('later'), $f->rebuild(['other']), $f->exists('later')]);
$one = new Fiber(fn() => $f->addMany($keys()));
$one->start();
$f->close();
refused('BloomFilterException', 'closed', fn() => ended($one));
--EXPECT--
