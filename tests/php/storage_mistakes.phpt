--TEST--
A storage that is a mistake is a ValueError, and never a file of that name; file:PATH names any file
--INI--
bloomfilter.unserialize_storage=1
--FILE--
<?php require __DIR__ . '/helpers.inc';
chdir(folder());
foreach (['redis:host:6379' => 'a Redis URL is redis://', 'http://host/f' => 'not opened over HTTP', 'file:///f' => 'file:PATH',
          'nosuch://h' => 'a storage is a path', '' => 'empty', 'file:' => 'names no path'] as $storage => $says)
    foreach ([fn() => new BloomFilter(1000, 10, storage: $storage), fn() => BloomFilter::open($storage), fn() => BloomFilter::plan(1000, 10, storage: $storage),
              fn() => unserialize('O:11:"BloomFilter":1:{s:7:"storage";s:' . strlen($storage) . ":\"$storage\";}")] as $call)
        refused('ValueError', $says, $call);
same(['.', '..'], scandir('.'));
$f = new BloomFilter(1000, 10, storage: 'file:http:odd');
$f->add('a');
same(['.', '..', 'http:odd'], scandir('.'));
same(true, unserialize(serialize($f))->exists('a'));
same(true, BloomFilter::open(getcwd() . '/http:odd')->exists('a'));
same(true, BloomFilter::open('file:http:odd')->exists('a'));
unlink('http:odd');
refused('BloomFilterException', 'No such file', fn() => BloomFilter::open('file:http:odd'));
--EXPECT--
