--TEST--
A bad key in the middle: its index is in the message, the keys before it are added
--FILE--
<?php require __DIR__ . '/helpers.inc';
foreach ([3, 127, 128, 129, 300] as $at) {
    $f = new BloomFilter(n: 1000, p: 1e-6);
    $keys = urls(400);
    $keys[$at] = null;
    refused('TypeError', "null given at index $at", fn() => $f->addMany($keys));
    same([true, false], [$f->exists($keys[$at - 1]), $f->exists($keys[$at + 1])]);
    same($at, count(array_filter($f->existMany(urls(400)))));
    $f->clear();
    refused('TypeError', "null given at index $at", fn() => $f->addMany(new ArrayIterator($keys)));
    same($at, count(array_filter($f->existMany(urls(400)))));
    $f->clear();
    refused('TypeError', "null given at index $at", fn() => $f->addNew($keys));
    same($at, count(array_filter($f->existMany(urls(400)))));
    refused('TypeError', "null given at index $at", fn() => $f->existMany($keys));
}
refused('TypeError', 'float given at index "price"', fn() => $f->addMany(['name' => 'a', 'price' => 1.5]));
refused('TypeError', 'bool given at index -7', fn() => $f->addMany([-7 => true]));
same(true, $f->exists('a'));
foreach (['price' => ['name' => 'a', 'price' => 1.5], -7 => [-7 => true], 2 => (fn() => yield from ['x', 'y', null])()] as $at => $keys)
    try { $f->addMany($keys); } catch (TypeError $e) { same($at, $e->index); }
$f = new BloomFilter(m: 65536, scheme: 'java7');
foreach (['b' => ['a' => 'x', 'b' => "\x80"], 9 => [5 => 'x', 7 => 'y', 9 => "\x80"]] as $at => $keys)
    try { $f->existMany($keys); } catch (ValueError $e) { same($at, $e->index); }
try { $f->add("\x80"); } catch (ValueError $e) { same(false, isset($e->index)); }
--EXPECT--
