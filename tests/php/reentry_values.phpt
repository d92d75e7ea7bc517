--TEST--
Values of iterators and references that PHP code replaces while a batch holds them
--FILE--
<?php require __DIR__ . '/helpers.inc';
class Bad { public $big = 'x'; }
class Acts
{
    public function __construct(private string $text, private $do) {}
    public function __toString(): string { ($this->do)(); return $this->text; }
}
/* What is freed is written over: else nobody would notice. */
function over(): void { for ($size = 24; $size < 400; $size += 8) for ($i = 0; $i < 16; $i++) $GLOBALS['spray'][] = str_repeat("\x08\0\0\0\0\0\0\0AAAAAAAA", 32) . $i; $GLOBALS['spray'] = []; }
function fresh(?callable $do): BloomFilter { return new BloomFilter(n: 100, p: 1e-6, window: 3600.0, clock: function () use ($do) { if ($do) $do(); return 2.0; }); }

/* The clock runs after the bad key was read, and before it is reported. */
$list = new ArrayObject(['a', 'b', new Bad]);
refused('TypeError', 'Bad given at index 2', fn() => fresh(function () use ($list) { $list->exchangeArray([]); over(); })->addMany($list));
$bad = new Bad;
$array = ['a', &$bad];
refused('TypeError', 'Bad given at index 1', fn() => fresh(function () use (&$bad) { $bad = 'good'; over(); })->addMany($array));

/* A key whose __toString() frees it. */
$list = new ArrayObject(['a', new Acts('b', function () use (&$list) { $list->exchangeArray(['c']); over(); }), 'd']);
$f = fresh(null);
same([2, true], [$f->addMany($list), $f->exists('b')]);
$self = new Acts('e', function () use (&$self) { $self = null; over(); });
same([2, [true, true]], [$f->addMany([&$self, 'f']), $f->existMany(['e', 'f'])]);

/* addNew returns the keys that it added. */
$text = 'before'; $number = 7;
$last = new Acts('last', function () use (&$text, &$number) { $text = 'after'; $number = 8; });
same(['x' => 'before', 'y' => 7, 0 => 'plain', 1 => $last], fresh(null)->addNew(['x' => &$text, 'y' => &$number, 'plain', $last]));
same(['after', 8], [$text, $number]);

/* A destructor that throws between two keys: the keys before it are added. */
class Thrower extends Acts { public function __destruct() { throw new LogicException('mine'); } }
$f = fresh(null);
$gone = new Thrower('g', function () use (&$gone) { $gone = 'h'; });
refused('LogicException', 'mine', function () use ($f, &$gone) { $f->addMany([&$gone, 'later']); });
same([true, false], array_values($f->existMany(['g', 'later'])));
--EXPECT--
