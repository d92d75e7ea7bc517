--TEST--
== compares like equals(): in_array() and array_search() tell filters apart
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
class Mine extends BloomFilter { public int $own = 0; }
$make = fn(string ...$keys) => tap(new BloomFilter(m: 1000, n: 100), $keys);
function tap(BloomFilter $bf, array $keys): BloomFilter { $bf->addMany($keys); return $bf; }
$ab = $make('a', 'b');
$others = ['one key' => $make('a'), 'no key' => $make(), 'two others' => $make('c', 'd'), 'another m' => tap(new BloomFilter(m: 2000, n: 100), ['a', 'b']),
           'another k' => tap(new BloomFilter(m: 1000, n: 100, k: 2), ['a', 'b']), 'another scheme' => tap(new BloomFilter(n: 100, p: 0.01), ['a', 'b']),
           'another secret' => tap(new BloomFilter(m: 1000, n: 100, secret: str_repeat('s', 16)), ['a', 'b'])];
foreach ($others as $name => $other) {
    same([false, true, false, $ab->equals($other)], [$ab == $other, $ab != $other, $other == $ab, false], $name);
    same([false, false], [$ab < $other, $ab >= $other], $name);                    # there is no order
}
same([false, true], [in_array($ab, $others), in_array($make('b', 'a'), [...$others, $ab])]);
same('ab', array_search(clone $ab, [...$others, 'ab' => $ab]));
same([true, true], [$ab == clone $ab, $ab == $make('a', 'b')]);

$mine = new Mine(m: 1000, n: 100);
$counting = new CountingBloomFilter(m: 1000, n: 100);
$twin = clone $mine;
$twin->own = 7;
same([false, false, false, true], [$make() == $mine, $make() == $counting, $counting == $make(), $mine == $twin], 'classes');
same([false, false, false], [$ab == 'ab', $ab == null, $ab == new stdClass], 'other values');

$dir = folder();
$file = new BloomFilter(m: 1000, n: 100, storage: "$dir/seen.bloom");
$file->addMany(['a', 'b']);
same([true, false], [$file == $ab, $file == $make('a')], 'another home');
ftruncate(fopen("$dir/seen.bloom", 'r+'), 100);
refused('BloomFilterException', 'seen.bloom', fn() => $file == $ab);

$ab->close();
refused('BloomFilterException', 'closed', fn() => $ab == $file);
refused('BloomFilterException', 'closed', fn() => $file == $ab);
same(true, $ab == $ab);                                                             # the same object
echo "done\n";
?>
--EXPECT--
done
