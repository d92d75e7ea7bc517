--TEST--
Arrays with holes, negative and mixed keys, and nested calls
--FILE--
<?php require __DIR__ . '/helpers.inc';
$f = new BloomFilter(n: 1000, p: 1e-6);
$keys = urls(300);
for ($i = 0; $i < 300; $i += 3) unset($keys[$i]);
same(200, $f->addMany($keys));
same(array_fill_keys(array_keys($keys), true), $f->existMany($keys));
$mixed = [5 => 'a', -3 => 'b', 'x' => 'c', '7' => 7, '' => 'd'];
same(array_fill_keys(array_keys($mixed), false), $f->existMany($mixed));
same($mixed, $f->addNew($mixed));
same([], $f->addNew($mixed));
same(array_fill_keys(array_keys($mixed), true), $f->existMany($mixed));
unset($keys);
$shifted = ['p', 'q', 'r'];
array_shift($shifted);
same([false, false], $f->existMany($shifted));
same([1 => 'q'], $f->addNew([1 => 'q']));
--EXPECT--
