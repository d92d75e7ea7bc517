--TEST--
A destructor that runs when a filter is closed or freed (that of its clock) finds the filter closed
--FILE--
<?php require __DIR__ . '/helpers.inc';
function f(): BloomFilter { return $GLOBALS['f']; }
class Watch
{
    public static array $heard = [];
    public function __construct(public ?Closure $last = null) {}
    public function __destruct() { if ($this->last) self::$heard[] = ($this->last)(); }
    public function __invoke(): float { return 1e9; }
}
function ask($call): string { try { return var_export($call(), true); } catch (BloomFilterException $e) { return $e->getMessage(); } }
foreach (['exists' => fn() => f()->exists('a'), 'add' => fn() => f()->add('a'), 'close' => fn() => f()->close(), 'clone' => fn() => clone f(), 'merge' => fn() => f()->merge(f())] as $name => $call) {
    Watch::$heard = [];
    $f = new BloomFilter(n: 1000, p: 0.01, window: 60, clock: new Watch(fn() => ask($call)));
    $f->add('a');
    $f->close();
    same(true, count(Watch::$heard) === 1 && ($name === 'close' ? Watch::$heard[0] === 'NULL' : str_contains(Watch::$heard[0], 'closed')), $name);
}
--EXPECT--
