--TEST--
A clock: any callable; what it throws comes out; it lives as long as the filters that use it
--FILE--
<?php require __DIR__ . '/helpers.inc';
class Watch
{
    public static int $alive = 0;
    public float $now = 1e9;
    public ?Throwable $fault = null;
    public $filter = null;
    public function __construct() { self::$alive++; }
    public function __destruct() { self::$alive--; }
    public function tell(): float { if ($this->fault) throw $this->fault; return $this->now; }
}
$watch = new Watch;
$f = new BloomFilter(n: 100, p: 0.001, window: 60, clock: [$watch, 'tell']);
same(true, $f->add('x'));
$watch->fault = new DomainException('no time');
foreach ([fn() => $f->add('y'), fn() => $f->exists('x'), fn() => $f->addMany(['y', 'z']), fn() => $f->existMany(['x']), fn() => count($f), fn() => $f->hashcode('x'),
          fn() => $f->addNew(['y'])] as $call) refused('DomainException', 'no time', $call);
$watch->fault = null;
same([true, false], [$f->exists('x'), $f->exists('y')]);
same([60.0, 4, null, 5], [$f->window, $f->parts, $f->grow, count($f->partInfo())]);
$three = new BloomFilter(n: 100, p: 0.001, window: 60, parts: 3, clock: fn() => 1e9);
same([3, 4], [$three->parts, count($three->partInfo())]);
$twin = clone $f;
$union = $f->union($twin);
$read = BloomFilter::fromBytes($f->toBytes(), clock: [$watch, 'tell']);
$watch->now += 60;
foreach ([$f, $twin, $union, $read] as $one) same(true, $one->exists('x'), 'at least for the window');
$watch->now += 16;
foreach ([$f, $twin, $union, $read] as $one) same(false, $one->exists('x'));
refused('BloomFilterException', 'clock of its own', fn() => serialize($f));
unset($f, $union, $read, $one);
$watch->filter = $twin;                                  /* a cycle */
unset($watch, $call);
same(1, Watch::$alive);
unset($twin);
gc_collect_cycles();
same(0, Watch::$alive);
foreach (['time', 'hrtime'] as $name) {
    $f = new BloomFilter(n: 100, p: 0.001, window: 60, clock: $name);
    if ($name === 'time') same([true, true], [$f->add('x'), $f->exists('x')]);
    else refused('TypeError', 'clock must return int|float, array returned', fn() => $f->add('x'));
}
/* What the caller could call where the filter was made can be called later from anywhere. */
class Hidden
{
    private function tell(): float { return 1e9; }
    public function make(): BloomFilter { return new BloomFilter(n: 100, p: 0.001, window: 60, clock: [$this, 'tell']); }
    public function __call($name, $given): float { return 2e9; }
    private static function say(): float { return 1e9; }
    public static function made(): BloomFilter { return new BloomFilter(n: 100, p: 0.001, window: 60, clock: 'self::say'); }
}
final class Closed { private function tell(): float { return 1e9; } }
$f = (new Hidden)->make();
same([true, true], [$f->add('x'), (clone $f)->exists('x')]);
same(true, @Hidden::made()->add('x'));
$f = new BloomFilter(n: 100, p: 0.001, window: 60, clock: [new Hidden, 'any']);
same([true, true, true], [$f->add('x'), $f->exists('x'), $f->add('y')]);
refused('TypeError', 'private method', fn() => new BloomFilter(n: 100, p: 0.001, window: 60, clock: [new Closed, 'tell']));

/* A clock has no use where nothing is forgotten. */
$dir = folder();
$fixed = new BloomFilter(n: 100, p: 0.01, storage: "$dir/fixed");
$fixed->save("$dir/saved");
foreach ([fn() => BloomFilter::fromBytes($fixed->toBytes(), clock: 'time'), fn() => BloomFilter::load("$dir/saved", clock: 'time'),
          fn() => BloomFilter::open("$dir/fixed", clock: 'time'), fn() => new BloomFilter(n: 100, p: 0.01, storage: "$dir/fixed", clock: 'time'),
          fn() => new BloomFilter(n: 100, p: 0.01, storage: "$dir/new", clock: 'time'), fn() => new BloomFilter(n: 100, p: 0.01, clock: 'time'),
          fn() => BloomFilter::fromBytes("\0", format: 'bits', m: 8, k: 1, scheme: 'classic', clock: 'time')] as $call) refused('ValueError', 'clock', $call);
same(false, file_exists("$dir/new"));
refused('ValueError', 'got NAN', fn() => (new BloomFilter(n: 100, p: 0.001, window: 60, clock: fn() => NAN))->add('x'));
refused('ValueError', 'clock must give seconds', fn() => (new BloomFilter(n: 100, p: 0.001, window: 60, clock: fn() => INF))->add('x'));
refused('TypeError', 'valid callback', fn() => new BloomFilter(n: 100, p: 0.001, window: 60, clock: 'no such function'));
$f = new BloomFilter(n: 100, p: 0.001, window: 60, clock: function () use (&$f) { $f->close(); return 5; });
refused('BloomFilterException', 'in use', fn() => $f->add('x'));
$f = null;
gc_collect_cycles();

/* It lives as long as the last filter that asks it, however the others are collected. */
class Knot extends BloomFilter { public $self; }
class Time { public function __construct(public float $time) {} public function now(): float { return $this->time; } }
function closure(): Closure { $watch = new Time(1e9); return fn() => $watch->time; }
foreach ([closure(...), fn() => [new Time(1e9), 'now']] as $make) {
    foreach ([fn($f) => clone $f, fn($f) => $f->union($f)] as $copied) {
        $f = new Knot(n: 1000, p: 0.01, window: 60, clock: $make());
        $f->add('a');
        $copies = [$copied($f), $copied($f)];
        $f->self = $f;
        unset($f);
        gc_collect_cycles();
        $junk = array_map(fn($i) => fn() => "$i", range(1, 100));            // in the place of what was freed
        foreach ($copies as $copy) same([false, true], [$copy->add('a'), $copy->exists('a')]);
        [$copies[0]->self, $copies[1]->self] = [$copies[0], $copies];
        unset($copies[0], $copy);
        gc_collect_cycles();
        same([true, true], [$copies[1]->add('b'), $copies[1]->exists('a')]);
        $ref = WeakReference::create($copies[1]);
        unset($copies);
        gc_collect_cycles();
        same(null, $ref->get());
    }
}

/* A destructor of a clock that runs when its filter is closed finds it closed. */
class Last extends Time { public ?Closure $last = null; public static array $heard = []; public function __destruct() { try { self::$heard[] = ($this->last)(); } catch (BloomFilterException $e) { self::$heard[] = $e->getCode(); } } }
function f(): BloomFilter { return $GLOBALS['f']; }
foreach ([fn() => f()->exists('a'), fn() => f()->add('a'), fn() => f()->close(), fn() => clone f(), fn() => f()->merge(f())] as $i => $call) {
    Last::$heard = [];
    $watch = new Last(1e9);
    $f = new BloomFilter(n: 1000, p: 0.01, window: 60, clock: [$watch, 'now']);
    $watch->last = $call;
    $f->add('a');
    $watch = null;
    $f->close();
    same([$i === 2 ? null : BloomFilterException::CLOSED], Last::$heard, "call $i");
}
--EXPECT--
