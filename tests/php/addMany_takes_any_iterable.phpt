--TEST--
addMany takes generators, iterators and aggregates
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
class Aggregate implements IteratorAggregate { public function getIterator(): Iterator { return new ArrayIterator(['agg', 7]); } }
$f = new BloomFilter(n: 10_000, p: 1e-6);
same(3, $f->addMany((function () { yield 'a'; yield 'b'; yield 42; yield 'a'; })()));
same(2, $f->addMany(new ArrayObject(['x' => 'c', 'y' => 'd'])));
same(2, $f->addMany(new Aggregate));
same(0, $f->addMany(new EmptyIterator));
same(2, $f->addMany((function () { yield from ['e', 'f']; yield from ['e']; })()));
same(1000, $f->addMany((function () { for ($i = 0; $i < 1000; $i++) yield "built $i"; })()));
same([true, true, true, true, true, true, true, false], $f->existMany(['a', '42', 'c', 'agg', '7', 'f', 'built 999', 'built 1000']));
echo "done\n";
?>
--EXPECT--
done
