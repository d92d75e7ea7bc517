--TEST--
Keys, values of iterators and references that PHP code replaces, or a filter that it closes, while a batch holds them
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
/* A clock runs after a bad key was read, and before it is reported. */
function fresh(?callable $do = null): BloomFilter { return new BloomFilter(...['n' => 1000, 'p' => 1e-6] + (is_extension() ? ['window' => 3600.0, 'clock' => function () use ($do) { if ($do) $do(); return 2.0; }] : [])); }

$list = new ArrayObject(['a', 'b', new Bad]);
refused('TypeError', 'Bad given at index 2', fn() => fresh(function () use ($list) { $list->exchangeArray([]); over(); })->addMany($list));
$bad = new Bad;
$array = ['a', &$bad];
refused('TypeError', 'Bad given at index 1', fn() => fresh(function () use (&$bad) { $bad = 'good'; over(); })->addMany($array));

/* A key whose __toString() frees it, or empties the array and what its references hold. */
$list = new ArrayObject(['a', new Acts('b', function () use (&$list) { $list->exchangeArray(['c']); over(); }), 'd']);
$f = fresh();
same([2, true], [$f->addMany($list), $f->exists('b')]);
$self = new Acts('e', function () use (&$self) { $self = null; over(); });
same([2, [true, true]], [$f->addMany([&$self, 'f']), $f->existMany(['e', 'f'])]);
foreach (['addMany', 'existMany', 'addNew'] as $method) {
    $f = fresh();
    [$text, $number, $object] = ['held', 5, new Acts('object', fn() => 1)];
    $keys = [&$text, &$number, 'plain', &$object];
    $keys[] = new Acts('acts', function () use (&$keys, &$text, &$number, &$object) {
        [$text, $number, $object, $keys] = [str_repeat('other', 100), null, 'gone', []];
        gc_collect_cycles();
        over();
    });
    $keys[] = 'last';
    $f->$method($keys);
    same([[], $method !== 'existMany'], [$keys, !in_array(false, $f->existMany(['held', '5', 'plain', 'object', 'acts', 'last']))], $method);
}

/* addNew returns the keys that it added; pure PHP, what the references hold then. */
$text = 'before'; $number = 7;
$last = new Acts('last', function () use (&$text, &$number) { $text = 'after'; $number = 8; });
same(is_extension() ? ['x' => 'before', 'y' => 7, 0 => 'plain', 1 => $last] : ['x' => 'after', 'y' => 8, 0 => 'plain', 1 => $last], fresh()->addNew(['x' => &$text, 'y' => &$number, 'plain', $last]));
same(['after', 8], [$text, $number]);

/* A key that closes the filter, or uses it. */
foreach (['add', 'exists', 'hashcode', 'addMany', 'existMany', 'addNew'] as $method)
    foreach (in_array($method, ['add', 'exists', 'hashcode']) ? [fn($key) => $key] : [fn($key) => ['a', $key, 'b'], fn($key) => [...urls(500), $key]] as $given) {
        $f = new BloomFilter(1000, 10);
        refused('BloomFilterException', 'closed', fn() => $f->$method($given(new Acts('x', fn() => $f->close()))));
    }
$f = new BloomFilter(n: 2000, p: 1e-6);
same(300, $f->addMany(array_map(fn($i) => new Acts("outer$i", fn() => $f->addMany(["inner$i"])), range(1, 300))));
same(600, array_sum($f->existMany([...array_map(fn($i) => "outer$i", range(1, 300)), ...array_map(fn($i) => "inner$i", range(1, 300))])));

/* A destructor between two keys that throws, or closes the filter: the keys before it are added. */
class Thrower extends Acts { public function __destruct() { throw new LogicException('mine'); } }
class Closer extends Acts { public function __destruct() { $GLOBALS['f']->close(); } }
$f = fresh();
$gone = new Thrower('g', function () use (&$gone) { $gone = 'h'; });
refused('LogicException', 'mine', function () use ($f, &$gone) { $f->addMany([&$gone, 'later']); });
same([true, false], array_values($f->existMany(['g', 'later'])));
refused('BloomFilterException', 'closed', fn() => $f->addMany((function () { for ($i = 0; $i < 300; $i++) yield new Closer("k$i", fn() => 1); })()));
--EXPECT--
