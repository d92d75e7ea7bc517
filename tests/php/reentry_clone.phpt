--TEST--
__clone() that closes, drops, merges or asks the original, or the copy: the copy is whole
--FILE--
<?php require __DIR__ . '/helpers.inc';
class B extends BloomFilter
{
    public static $do = null;
    public $note = 'kept';
    public function __clone() { if (self::$do) (self::$do)($this); }
}
$ways = ['close' => function () { $GLOBALS['o']->close(); }, 'drop' => function () { $GLOBALS['o'] = null; }, 'merge' => function ($c) { $GLOBALS['o']->merge($c); },
    'ask' => function ($c) { same([true, true], [$c->exists('a'), $GLOBALS['o']->exists('a')]); }, 'union' => function ($c) { $c->merge($GLOBALS['o']->union($c)); },
    'again' => function ($c) { B::$do = null; $GLOBALS['o'] = clone $c; }];
foreach ([['n' => 1000, 'p' => 0.01], ['n' => 100, 'p' => 0.01, 'grow' => 2.0], ['n' => 1000, 'p' => 0.01, 'window' => 60.0, 'clock' => fn() => 1e9]] as $how) {
    foreach ($ways as $name => B::$do) {
        $o = new B(...$how);
        $o->add('a');
        $c = clone $o;
        same([true, 'kept', true, $c->n], [$c->exists('a'), $c->note, $c->add('b'), $how['n']], $name);
    }
    B::$do = fn($c) => $c->close();
    $o = new B(...$how);
    $c = clone $o;
    refused('BloomFilterException', 'closed', fn() => $c->exists('a'));
    same(false, $o->exists('a'));
    B::$do = fn() => throw new DomainException('no');
    refused('DomainException', 'no', fn() => clone $o);
    same(true, $o->add('b'));
    $o->close();
    B::$do = fn() => print("__clone of a closed filter\n");
    refused('BloomFilterException', 'closed', fn() => clone $o);
}
--EXPECT--
