--TEST--
A clock that asks, changes, closes, copies or drops the filter that asks it: an exception there, and the call goes on
--FILE--
<?php require __DIR__ . '/helpers.inc';
class Seen extends BloomFilter {}
function f(): BloomFilter { return $GLOBALS['f']; }
$todo = $f = null;
$said = '';
$clock = function () use (&$todo, &$said) {
    if ($call = $todo) {
        $todo = null;
        try { $call(); $said = 'nothing'; } catch (BloomFilterException $e) { $said = $e->getCode() === BloomFilterException::BUSY ? $e->getMessage() : $e; }
    }
    return microtime(true);
};
$make = fn() => new Seen(n: 1000, p: 0.01, window: 600, clock: $clock);
$other = new Seen(n: 1000, p: 0.01, window: 600);
$other->add('other');
$inner = ['close' => fn() => f()->close(), 'add' => fn() => f()->add('x'), 'exists' => fn() => f()->exists('x'), 'addMany' => fn() => f()->addMany(['x']),
    'existMany' => fn() => f()->existMany(['x']), 'addNew' => fn() => f()->addNew(['x']), 'hashcode' => fn() => f()->hashcode('x'), 'count' => fn() => count(f()),
    'info' => fn() => f()->info(), 'clear' => fn() => f()->clear(), 'sync' => fn() => f()->sync(), 'clone' => fn() => clone f(), 'merge' => fn() => f()->merge($other),
    'merged' => fn() => $other->merge(f()), 'self' => fn() => f()->merge(f()), 'union' => fn() => f()->union($other), 'united' => fn() => $other->union(f()),
    'equals' => fn() => f()->equals($other), 'equal' => fn() => $other->equals(f()), 'bytes' => fn() => f()->toBytes(), 'bitset' => fn() => f()->bitset,
    'save' => fn() => f()->save('/nonexistent/folder/x'), 'parts' => fn() => f()->partInfo()];
$outer = ['add' => fn() => f()->add('y'), 'exists' => fn() => f()->exists('a'), 'addMany' => fn() => f()->addMany(['y', 'z']), 'existMany' => fn() => f()->existMany(['a']),
    'hashcode' => fn() => f()->hashcode('a'), 'count' => fn() => count(f()), 'info' => fn() => f()->info(), 'merge' => fn() => f()->merge($other),
    'union' => fn() => f()->union($other), 'equals' => fn() => f()->equals($other), 'equal' => fn() => $other->equals(f())];
foreach ($outer as $without => $call) {
    foreach ($inner as $name => $todo) {
        $keep = $todo;
        $todo = null;
        $f = $make();
        $f->add('a');
        [$todo, $said] = [$keep, ''];
        $call();
        $copied = $without === 'union' && ($said === 'nothing' || $name === 'save');       // the clock of the copy, when the original is free again
        same(true, $copied || str_contains((string)$said, 'in use'), "$without / $name: $said");
        $todo = null;
        if (!($copied && in_array($name, ['close', 'clear'], true))) same(true, $f->exists('a'), "$without / $name");
        $f->close();
    }
}

/* Another filter may do what it likes, one of the same clock too; the last reference may go. */
$twin = $make();
[$f, $todo] = [$make(), function () use ($twin) { $twin->add('b'); (clone $twin)->close(); $twin->close(); }];
same([true, 'nothing'], [$f->add('a'), $said]);
$todo = function () use (&$f) { $f = null; };
same(true, $f->add('b'));
same([null, 'nothing'], [$f, $said]);
[$f, $todo] = [$make(), fn() => f()->__construct(n: 10, p: 0.1)];
refused('Error', 'already constructed', fn() => $f->add('a'));
same(true, $f->add('a'));
--EXPECT--
