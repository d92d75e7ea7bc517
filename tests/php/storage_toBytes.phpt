--TEST--
The bytes of a file's filter are a filter in memory
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
$f = new BloomFilter(n: 1000, p: 0.01, storage: "$dir/a");
$f->addMany(urls(500));
$memory = new BloomFilter(n: 1000, p: 0.01);
$memory->addMany(urls(500));
same($memory->toBytes(), $f->toBytes());
same([true, 500], [BloomFilter::fromBytes($f->toBytes())->equals($f), array_sum(BloomFilter::fromBytes(file_get_contents("$dir/a"))->existMany(urls(500)))]);
file_put_contents("$dir/b", saved($f));
same(true, BloomFilter::open("$dir/b")->equals($f));
$f->save("$dir/b");
same(saved($memory), file_get_contents("$dir/b"));
--EXPECT--
