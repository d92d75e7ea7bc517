--TEST--
Factories, set operations and clones return the called class
--FILE--
<?php require __DIR__ . '/helpers.inc';
class Seen extends BloomFilter
{
    public string $label = 'fresh';
    public static int $constructed = 0;
    public function __construct(int $n) { self::$constructed++; parent::__construct(n: $n, p: 0.01); }
    public function add(Stringable|string|int $key): bool { return parent::add("seen:$key"); }
}
$a = new Seen(100);
$a->label = 'mine';
same([true, true, false], [$a->add('x'), $a->exists('seen:x'), $a->exists('x')]);
$path = folder() . '/seen.bloom';
$a->save($path);
foreach ([$a->union($a), $a->intersect($a), Seen::fromBytes($a->toBytes()), Seen::load($path)] as $b)
    same(['Seen', 100, true, 'fresh'], [get_class($b), $b->n, $b->exists('seen:x'), $b->label]);
same(['Seen', 'mine'], [get_class(clone $a), (clone $a)->label]);
same('BloomFilter', get_class(BloomFilter::load($path)));
same(1, Seen::$constructed);
abstract class Unmade extends BloomFilter {}
refused('Error', 'Cannot instantiate abstract class Unmade', fn() => Unmade::fromBytes($a->toBytes()));
class Fixed extends BloomFilter { public function __construct() { parent::__construct(1000, 10); } }
same(['n' => 10], array_intersect_key(Fixed::plan(1000, 10), ['n' => 0]));
--EXPECT--
