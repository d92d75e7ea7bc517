--TEST--
addNew adds all keys and returns the new ones, as given and under their array keys
--FILE--
<?php require __DIR__ . '/helpers.inc';
class Text { public function __construct(public string $s) {} public function __toString(): string { return $this->s; } }
$f = new BloomFilter(n: 1000, p: 1e-6);
$f->add('b');
same(['x' => 'a', 'z' => 'c'], $f->addNew(['x' => 'a', 'y' => 'b', 'z' => 'c']));
same([], $f->addNew(['a', 'b', 'c']));
same([0 => 'd', 3 => 'e'], $f->addNew(['d', 'd', 'a', 'e']));
same([1 => 42], $f->addNew(['a', 42, '42']));
$t = new Text('t');
same(['o' => $t], $f->addNew(['o' => $t, 'p' => 't']));
same([], $f->addNew([]));
same(count(urls(700)), count($f->addNew(urls(700))));
--EXPECT--
