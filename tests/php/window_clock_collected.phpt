--TEST--
A clock lives as long as the last filter that asks it, however the others are collected
--FILE--
<?php require __DIR__ . '/helpers.inc';
class Knot extends BloomFilter { public $self; }
class Watch { public function __construct(public float $time) {} public function now(): float { return $this->time; } }
function closure(): Closure { $watch = new Watch(1e9); return fn() => $watch->time; }
function pair(): array { return [new Watch(1e9), 'now']; }
$ways = ['clone' => fn($f) => clone $f, 'union' => fn($f) => $f->union($f)];
foreach (['closure', 'pair'] as $make) {
    foreach ($ways as $way => $call) {
        $f = new Knot(n: 1000, p: 0.01, window: 60, clock: $make());
        $f->add('a');
        $copies = [$call($f), $call($f)];
        $f->self = $f;
        unset($f);
        gc_collect_cycles();
        $junk = [];
        for ($i = 0; $i < 100; $i++) $junk[] = fn() => "$i";    // in the place of what was freed
        foreach ($copies as $copy) same([false, true], [$copy->add('a'), $copy->exists('a')], "$make $way");
        $copies[0]->self = $copies[0];
        unset($copies[0], $copy);
        gc_collect_cycles();
        same([true, true], [$copies[1]->add('b'), $copies[1]->exists('a')], "$make $way");
        $copies[1]->self = $copies;
        $ref = WeakReference::create($copies[1]);
        unset($copies);
        gc_collect_cycles();
        same(null, $ref->get(), "$make $way");
    }
}
$seen = WeakReference::create($clock = closure());
$f = new Knot(n: 1000, p: 0.01, window: 60, clock: $clock);
$g = clone $f;
unset($clock, $f);
same(false, $seen->get() === null);
unset($g);
same(null, $seen->get());
--EXPECT--
