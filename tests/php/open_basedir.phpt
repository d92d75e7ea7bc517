--TEST--
open_basedir holds for every path
--INI--
bloomfilter.unserialize_storage=1
--FILE--
<?php require __DIR__ . '/helpers.inc';
$inside = folder();
$outside = __DIR__;
$serialized = 'O:11:"BloomFilter":1:{s:7:"storage";s:' . strlen("$outside/a.bloom") . ":\"$outside/a.bloom\";}";
ini_set('open_basedir', $inside);
$f = new BloomFilter(1000, 10);
foreach ([fn() => $f->save("$outside/b.bloom"), fn() => BloomFilter::load("$outside/a.bloom"), fn() => BloomFilter::open("$outside/a.bloom"),
          fn() => new BloomFilter(1000, 10, storage: "$outside/a.bloom"), fn() => BloomFilter::load("$inside/../../../..$outside/a.bloom"),
          fn() => BloomFilter::plan(1000, 10, storage: "$outside/a.bloom"), fn() => unserialize($serialized),
          fn() => new BloomFilter(1000, 10, storage: "file:$outside/a.bloom"), fn() => BloomFilter::open("file:$outside/a.bloom"),
          fn() => BloomFilter::open("file:$inside/../../../..$outside/a.bloom")] as $call)
    refused('BloomFilterException', 'open_basedir does not allow', $call);
$f->save("$inside/a.bloom");
same(true, BloomFilter::load("$inside/a.bloom")->equals($f));
same(true, BloomFilter::open("$inside/a.bloom")->equals($f));
same(true, BloomFilter::open("file:$inside/a.bloom")->equals($f));
--EXPECT--
