--TEST--
readOnly: true opens for reading, whatever the rights
--FILE--
<?php require __DIR__ . '/helpers.inc';
$path = folder() . '/a.bloom';
$f = new BloomFilter(n: 1000, p: 0.01, storage: $path);
$g = BloomFilter::open($path, readOnly: true);
same([true, true, false], [$f->add('a'), $g->exists('a'), $g->exists('b')]);
foreach ([fn() => $g->add('a'), fn() => $g->add('b'), fn() => $g->addMany(['a']), fn() => $g->addNew(['b']), fn() => $g->clear()] as $call)
    refused('BloomFilterException', 'read-only', $call);
same([true, 1], [$f->add('b'), count($g) - 1], 'the writer is not touched');
same([true, true], [BloomFilter::open($path)->add('c'), $g->exists('c')]);
refused('BloomFilterException', 'No such file', fn() => BloomFilter::open("$path.none", readOnly: true));
same('read', in_other_php('$f = BloomFilter::open(' . var_export($path, true) . ', readOnly: true); if ($f->exists("c")) echo "read"; try { $f->add("d"); echo "added"; } catch (BloomFilterException) {}'));
--EXPECT--
