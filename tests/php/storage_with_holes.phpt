--TEST--
A copy with holes is opened: its bits are as they were, and the holes have room where it is opened for writing
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
$room = function (string $path): int { clearstatcache(); return stat($path)['blocks'] * 512; };
foreach ([['m' => 8 << 20, 'k' => 4], ['n' => 500_000, 'p' => 0.01, 'grow' => 2.0], ['n' => 500_000, 'p' => 0.01, 'window' => 1e6]] as $i => $args) {
    $whole = new BloomFilter(...$args, storage: "$dir/whole$i");
    $whole->add('a');
    $whole->close();
    exec('cp --sparse=always ' . escapeshellarg("$dir/whole$i") . ' ' . escapeshellarg("$dir/back$i"));
    $size = filesize("$dir/back$i");
    same(true, $room("$dir/back$i") < $size / 2, 'copied with holes');
    $read = BloomFilter::open("$dir/back$i", readOnly: true);
    same([true, false], $read->existMany(['a', 'b']));
    same(true, $room("$dir/back$i") < $size / 2, 'reading takes no room');
    $read->close();
    $f = BloomFilter::open("$dir/back$i");
    same(true, $room("$dir/back$i") >= $size, 'writing does');
    same($size, filesize("$dir/back$i"));
    same([true, false], $f->existMany(['a', 'b']));
    same(['b', 'c'], $f->addNew(['b', 'c']));
    $f->close();
}
--EXPECT--
