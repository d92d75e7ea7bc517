--TEST--
A __toString that changes the array, or what its references hold, is no trouble
--FILE--
<?php require __DIR__ . '/helpers.inc';
class Changer
{
    public $do;
    public function __construct(callable $do) { $this->do = $do; }
    public function __toString(): string { ($this->do)(); return 'changer'; }
}
foreach (['addMany', 'existMany', 'addNew'] as $method) {
    $f = new BloomFilter(n: 1000, p: 1e-6);
    $text = str_repeat('held', 3); $number = 5; $object = new Changer(fn() => 1);
    $keys = [&$text, &$number, 'plain', &$object];
    $keys[] = new Changer(function () use (&$keys, &$text, &$number, &$object) {
        $text = str_repeat('other', 100); $number = null; $object = 'gone';
        $keys = []; gc_collect_cycles();
        $waste = []; for ($i = 0; $i < 1000; $i++) $waste[] = str_repeat('#', 12);
    });
    $keys[] = 'last';
    $f->$method($keys);
    if ($method !== 'existMany') same([true, true, true, true, true, false], $f->existMany(['heldheldheld', '5', 'plain', 'changer', 'last', '############']), $method);
    same([], $keys);
}
$self = null;
$self = new Changer(function () use (&$self) { $self = 'replaced'; });
same(1, (new BloomFilter(n: 1000, p: 1e-6))->addMany([&$self, 'changer']));
--EXPECT--
