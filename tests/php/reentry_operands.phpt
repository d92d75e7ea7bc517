--TEST--
A clock that closes or asks the other operand of merge, union, equals and their kin, in both orders
--FILE--
<?php require __DIR__ . '/helpers.inc';
$todo = $said = null;
$clock = function () use (&$todo, &$said) {
    if ($call = $todo) {
        $todo = null;
        try { $call(); $said = 'nothing'; } catch (BloomFilterException $e) { $said = $e->getMessage(); }
    }
    return microtime(true);
};
$calls = ['merge' => fn($a, $b) => $a->merge($b), 'union' => fn($a, $b) => $a->union($b)->exists('b'), 'equals' => fn($a, $b) => $a->equals($b)];
foreach ($calls as $name => $call) {
    foreach ([false, true] as $swapped) {
        foreach ([null, fn() => microtime(true)] as $others) {
            foreach (['close' => fn() => $GLOBALS['b']->close(), 'clear' => fn() => $GLOBALS['b']->clear(), 'clone' => fn() => clone $GLOBALS['b'], 'drop' => function () use (&$b) { $b = null; }] as $inner => $todo) {
                $keep = $todo;
                $todo = null;
                $a = new BloomFilter(n: 1000, p: 0.01, window: 600, clock: $clock);
                $b = new BloomFilter(n: 1000, p: 0.01, window: 600, clock: $others);
                $a->add('a');
                $b->add('b');
                [$todo, $said] = [$keep, null];
                $held = $inner === 'drop' ? null : $b;
                $swapped ? $call($b, $a) : $call($a, $b);
                same(true, $swapped || $said !== null, "$name $inner");     // merge does not ask the clock of the other one
                if ($held && $said !== null && $inner === 'close') same(true, str_contains($said, 'in use'), "$name $inner $said");
                $todo = null;
                if ($held && ($inner !== 'clear' || $others)) same(true, $held->exists('b'), "$name $inner");
                same(true, $a->exists('a'), "$name $inner");
            }
        }
    }
}

/* The same filter twice. */
$f = new BloomFilter(n: 1000, p: 0.01, window: 600, clock: $clock);
$f->add('a');
$f->merge($f);
same([true, true, true], [$f->equals($f), $f->union($f)->exists('a'), $f->exists('a')]);
$todo = fn() => $GLOBALS['f']->close();
$f->merge($f);
same(true, str_contains($said, 'in use'));
--EXPECT--
