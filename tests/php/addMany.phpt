--TEST--
addMany, existMany and addNew: counts, array keys, iterables, references, batches of every size
--FILE--
<?php require __DIR__ . '/helpers.inc';
# addMany returns how many keys were surely new.
$f = new BloomFilter(n: 1000, p: 1e-6);
same([3, 1, 0, 0], [$f->addMany(['a', 'b', 'c']), $f->addMany(['b', 'd']), $f->addMany(['a', 'd']), $f->addMany([])]);
same([2, 1], [$f->addMany(['x', 'x', 'y', 'y', 'x']), $f->addMany([42, '42', 42])]);

# existMany and addNew answer under the array keys they were given; a list is a list.
same([true, true, false], $list = $f->existMany(['a', '42', 'z']));
$list[] = 'appended';
same([true, true, false, 'appended'], $list);
same(['x' => true, 'y' => false, 9 => true], $f->existMany(['x' => 'a', 'y' => 'none', 9 => 'b']));
same([[], []], [$f->existMany([]), $f->addNew([])]);
class Text { public function __construct(public string $s) {} public function __toString(): string { return $this->s; } }
same(['x' => 'e', 'z' => 'f'], $f->addNew(['x' => 'e', 'y' => 'b', 'z' => 'f']));
same([[0 => 'g', 3 => 'h'], [1 => 43]], [$f->addNew(['g', 'g', 'a', 'h']), $f->addNew(['a', 43, '43'])]);
$t = new Text('t');
same(['o' => $t], $f->addNew(['o' => $t, 'p' => 't']));
$holes = urls(300);
for ($i = 0; $i < 300; $i += 3) unset($holes[$i]);
$shifted = ['p', 'q', 'r'];
array_shift($shifted);
foreach ([$holes, [5 => 'a', -3 => 'b', 'x' => 'c', '7' => 7, '' => 'd'], $shifted] as $keys) {
    $f = new BloomFilter(n: 1000, p: 1e-6);
    same(array_fill_keys(array_keys($keys), false), $f->existMany($keys));
    same([$keys, []], [$f->addNew($keys), $f->addNew($keys)]);
    same([array_fill_keys(array_keys($keys), true), 0], [$f->existMany($keys), $f->addMany($keys)]);
}

# References inside arrays are followed.
$a = 'first'; $b = 42; $keys = [&$a, 'plain', &$b];
$f = new BloomFilter(n: 1000, p: 1e-6);
same([3, [true, true, true]], [$f->addMany($keys), $f->existMany($keys)]);
same([true, true], $f->existMany(['first', '42']));
$list = urls(300);
foreach ($list as &$url);
unset($url);
foreach ($list as &$url) $url = (string)$url;
same(300, $f->addMany($list));
$a = 'second';
same([0 => 'second'], $f->addNew($keys));
$g = (function &() use (&$b) { $b = 'by reference'; yield $b; })();
same([1, true], [$f->addMany($g), $f->exists('by reference')]);

# addMany takes generators, iterators and aggregates; a generator may use the filter it feeds.
class Aggregate implements IteratorAggregate { public function getIterator(): Iterator { return new ArrayIterator(['agg', 7]); } }
$f = new BloomFilter(n: 10_000, p: 1e-6);
same(3, $f->addMany((function () { yield 'a'; yield 'b'; yield 42; yield 'a'; })()));
same([2, 2, 0], [$f->addMany(new ArrayObject(['x' => 'c', 'y' => 'd'])), $f->addMany(new Aggregate), $f->addMany(new EmptyIterator)]);
same(2, $f->addMany((function () { yield from ['e', 'f']; yield from ['e']; })()));
same(1000, $f->addMany((function () { for ($i = 0; $i < 1000; $i++) yield "built $i"; })()));
same([true, true, true, true, true, true, true, false], $f->existMany(['a', '42', 'c', 'agg', '7', 'f', 'built 999', 'built 1000']));
same(1000, $f->addMany((function () use ($f) { for ($i = 0; $i < 1000; $i++) { $f->add("side $i"); yield "main $i"; } })()));
same(2000, array_sum($f->existMany([...array_map(fn($i) => "side $i", range(0, 999)), ...array_map(fn($i) => "main $i", range(0, 999))])));

# What cannot be iterated is a TypeError.
$f = new BloomFilter(1000, 10);
foreach (['abc', 42, null, true, 1.5, new stdClass] as $keys)
    refused('TypeError', 'BloomFilter::addMany(): Argument #1 ($keys) must be of type', fn() => $f->addMany($keys));
foreach (['existMany', 'addNew'] as $method)
    foreach (['abc', 42, null, new ArrayIterator(['a'])] as $keys)
        refused('TypeError', "BloomFilter::$method(): Argument #1 (\$keys) must be of type array", fn() => $f->$method($keys));
same(0, count($f));

# Around the limits of chunks a batch does what single calls do.
foreach (['classic', 'block', 'block2'] as $scheme)
    foreach ([1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 1000] as $size) {
        [$one, $many, $iterated, $fresh] = array_map(fn() => new BloomFilter(n: $size, p: 0.01, scheme: $scheme), range(1, 4));
        $keys = urls($size);
        $new = array_filter($keys, fn($key) => $one->add($key));
        same([count($new), count($new), $new], [$many->addMany($keys), $iterated->addMany(new ArrayIterator($keys)), $fresh->addNew($keys)], "$scheme $size");
        same([true, true, true], [$one->equals($many), $one->equals($iterated), $one->equals($fresh)], "$scheme $size");
        $probes = urls(2 * $size, 'a');
        same(array_map(fn($key) => $one->exists($key), $probes), $many->existMany($probes), "$scheme $size");
    }
--EXPECT--
