--TEST--
Set operations with a file give a filter in memory
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
$a = new BloomFilter(n: 1000, p: 0.001, storage: "$dir/a");
$b = new BloomFilter(n: 1000, p: 0.001, storage: "$dir/b");
$memory = new BloomFilter(n: 1000, p: 0.001);
$a->addMany(['1', '2']); $b->addMany(['2', '3']); $memory->addMany(['2', '4']);
$before = [sha1_file("$dir/a"), sha1_file("$dir/b")];
$some = fn($f) => implode(array_keys(array_filter($f->existMany(['1' => '1', '2' => '2', '3' => '3', '4' => '4']))));
same(['123', '124', '124', '2', '2'], [$some($a->union($b)), $some($a->union($memory)), $some($memory->union($a)), $some($a->intersect($b)), $some($memory->intersect($b))]);
$u = $a->union($b);
same(['bytes'], array_keys($u->__serialize()));
same([true, true, false], [$u->add('5'), $u->exists('5'), $a->exists('5') || $b->exists('5')]);
same([false, true, true], [$a->equals($b), $a->equals(clone $a), $a->equals(BloomFilter::load("$dir/a"))]);
same($before, [sha1_file("$dir/a"), sha1_file("$dir/b")]);
refused('ValueError', 'same k', fn() => $a->union(new BloomFilter(m: $a->m, n: $a->n, k: 3, scheme: $a->scheme)));
--EXPECT--
