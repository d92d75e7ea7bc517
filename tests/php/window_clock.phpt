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
$twin = clone $f;
$union = $f->union($twin);
$read = BloomFilter::fromBytes($f->toBytes(), clock: [$watch, 'tell']);
$watch->now += 76;
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
--EXPECT--
