--TEST--
An exception of __toString goes through
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
class Bad { public function __toString(): string { throw new LogicException('no text'); } }
$f = new BloomFilter(1000, 10);
foreach (['add', 'exists', 'hashcode'] as $method) refused('LogicException', 'no text', fn() => $f->$method(new Bad));
refused('LogicException', 'no text', fn() => $f->addMany(['a', 'b', new Bad, 'c']));
same([true, true, false], [$f->exists('a'), $f->exists('b'), $f->exists('c')]);
refused('LogicException', 'no text', fn() => $f->existMany(['a', new Bad]));
refused('LogicException', 'no text', fn() => $f->addNew(['d', new Bad]));
same(true, $f->exists('d'));
echo "done\n";
?>
--EXPECT--
done
