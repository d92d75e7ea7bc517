--TEST--
addMany and existMany: counts, array keys, iterables
--FILE--
<?php require __DIR__ . '/helpers.inc';
# addMany returns how many keys were surely new.
$f = new BloomFilter(n: 1000, p: 1e-6);
same([3, 1, 0, 0], [$f->addMany(['a', 'b', 'c']), $f->addMany(['b', 'd']), $f->addMany(['a', 'd']), $f->addMany([])]);
same([2, 1], [$f->addMany(['x', 'x', 'y', 'y', 'x']), $f->addMany([42, '42', 42])]);
same([true, true, false], $f->existMany(['a', '42', 'z']));
same(['k1' => true, 'k2' => true], $f->existMany(['k1' => 'a', 'k2' => 'b']));

# existMany answers under the array keys it was given.
$f = new BloomFilter(n: 1000, p: 1e-6);
$f->addMany(['a', 'b']);
same(['x' => true, 'y' => false, 9 => true], $f->existMany(['x' => 'a', 'y' => 'c', 9 => 'b']));
same([true, false, true], $f->existMany(['a', 'c', 'b']));
same([], $f->existMany([]));
$list = $f->existMany(['a', 'b']);
$list[] = 'appended';
same([true, true, 'appended'], $list);
same(2, count($f));

# addMany takes generators, iterators and aggregates.
class Aggregate implements IteratorAggregate { public function getIterator(): Iterator { return new ArrayIterator(['agg', 7]); } }
$f = new BloomFilter(n: 10_000, p: 1e-6);
same(3, $f->addMany((function () { yield 'a'; yield 'b'; yield 42; yield 'a'; })()));
same(2, $f->addMany(new ArrayObject(['x' => 'c', 'y' => 'd'])));
same(2, $f->addMany(new Aggregate));
same(0, $f->addMany(new EmptyIterator));
same(2, $f->addMany((function () { yield from ['e', 'f']; yield from ['e']; })()));
same(1000, $f->addMany((function () { for ($i = 0; $i < 1000; $i++) yield "built $i"; })()));
same([true, true, true, true, true, true, true, false], $f->existMany(['a', '42', 'c', 'agg', '7', 'f', 'built 999', 'built 1000']));

# What cannot be iterated is a TypeError.
$f = new BloomFilter(1000, 10);
foreach (['abc', 42, null, true, 1.5, new stdClass] as $keys)
    refused('TypeError', 'BloomFilter::addMany(): Argument #1 ($keys) must be of type', fn() => $f->addMany($keys));
foreach (['existMany', 'addNew'] as $method)
    foreach (['abc', 42, null, new ArrayIterator(['a'])] as $keys)
        refused('TypeError', "BloomFilter::$method(): Argument #1 (\$keys) must be of type array", fn() => $f->$method($keys));
same(0, count($f));

# A generator may use the filter it feeds.
$f = new BloomFilter(n: 5000, p: 1e-6);
$g = (function () use ($f) { for ($i = 0; $i < 1000; $i++) { $f->add("side $i"); yield "main $i"; } })();
same(1000, $f->addMany($g));
same(2000, count(array_filter($f->existMany([...array_map(fn($i) => "side $i", range(0, 999)), ...array_map(fn($i) => "main $i", range(0, 999))]))));

# A generator that closes the filter ends in an exception.
$f = new BloomFilter(1000, 10);
$g = (function () use ($f) { yield 'a'; $f->close(); yield 'b'; })();
refused('BloomFilterException', 'closed', fn() => $f->addMany($g));
--EXPECT--
