--TEST--
What unserialize() runs (a __set(), a property's type) may close the filter and change the data it is read from
--FILE--
<?php require __DIR__ . '/helpers.inc';
class S extends BloomFilter
{
    public static $do = null;
    public function __set($name, $value) { if (self::$do) (self::$do)($this, $name, $value); }
}
class T { function __construct(public $text) {} function __toString(): string { if (S::$do) (S::$do)(null, '', $this); return $this->text; } }
class U extends BloomFilter { public string $note = ''; public string $last = ''; }
$bytes = (new BloomFilter(n: 100, p: 0.1))->toBytes();
$empty = fn($class) => (new ReflectionClass($class))->newInstanceWithoutConstructor();
$seen = [];
for ($round = 0; $round < 3; $round++) {
    $members = [];
    for ($i = 0; $i < 100; $i++) $members["p$i"] = str_repeat("v$i", 10);
    $data = ['bytes' => $bytes, 'members' => &$members];
    $s = $empty('S');
    S::$do = function ($self, $name, $value) use (&$members, &$seen, $round) {
        $seen[] = $value;
        if ($round === 0) { $members = []; for ($i = 0; $i < 50; $i++) $junk[] = str_repeat('x', 20); }
        if ($round === 1) { unset($members[$name]); foreach ($members as $k => $v) $members[$k] = str_repeat('y', 20); }
        if ($round === 2) $self->close();
    };
    $s->__unserialize($data);
    same(100, count($seen));
    same(str_repeat('v99', 10), $seen[99]);
    $seen = [];
    unset($members, $data);
    if ($round === 2) refused('BloomFilterException', 'closed', fn() => $s->exists('a'));
    else same(false, $s->exists('a'));
}
$value = new T('noted');
$members = ['note' => &$value, 'last' => new T('last')];
S::$do = function () use (&$value, &$members) { $value = null; $members = null; };
$u = $empty('U');
$u->__unserialize(['bytes' => $bytes, 'members' => &$members]);
same(['noted', 'last', false], [$u->note, $u->last, $u->exists('a')]);
--EXPECT--
