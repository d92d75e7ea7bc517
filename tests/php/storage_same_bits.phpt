--TEST--
A file has the bits that memory has, in every scheme
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
foreach ([['m' => 100_003, 'n' => 5000], ['n' => 5000, 'p' => 0.01], ['n' => 5000, 'p' => 1e-4], ['n' => 5000, 'p' => 0.01, 'secret' => str_repeat('s', 16)]] as $i => $arguments) {
    $file = new BloomFilter(...$arguments, storage: "$dir/$i");
    $memory = new BloomFilter(...$arguments);
    same($memory->addMany(urls(3000)), $file->addMany(urls(3000)));
    foreach (urls(100, 'one') as $key) same($memory->add($key), $file->add($key));
    same($memory->addNew(urls(300, 'new')), $file->addNew(urls(300, 'new')));
    same([$memory->bitset, $memory->hashcode('a'), count($memory), $memory->fpr(), $memory->fillRatio()],
         [$file->bitset, $file->hashcode('a'), count($file), $file->fpr(), $file->fillRatio()]);
    same($memory->existMany(urls(5000)), $file->existMany(urls(5000)));
    same(true, $memory->equals($file) && $file->equals($memory));
    same(substr(file_get_contents("$dir/$i"), 4096, strlen($file->bitset)), $file->bitset);
}
--EXPECT--
