--TEST--
A storage is a path from the working directory; a mistake is a ValueError and never a file of that name; file:PATH names any file
--INI--
bloomfilter.unserialize_storage=1
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
chdir($dir);
foreach (['redis:host:6379' => 'a Redis URL is redis://', '' => 'empty'] as $storage => $says)
    refused('ValueError', $says, fn() => unserialize('O:11:"BloomFilter":1:{s:7:"storage";s:' . strlen($storage) . ":\"$storage\";}"));
same([], names_in('.'));
$f = new BloomFilter(1000, 10, storage: 'file:http:odd');
$f->add('a');
same(['http:odd'], names_in('.'));
foreach ([fn() => unserialize(serialize($f)), fn() => BloomFilter::open("$dir/http:odd"), fn() => BloomFilter::open('file:http:odd')] as $open) same(true, $open()->exists('a'));

mkdir('one');
chdir('one');
(new BloomFilter(n: 100, p: 0.01, storage: 'a.bloom'))->add('in one');
chdir($dir);
refused('BloomFilterException', "$dir/a.bloom", fn() => BloomFilter::open('a.bloom'));
symlink('one/a.bloom', 'link');
foreach (['one/a.bloom', './one//a.bloom', 'one/../one/a.bloom', "$dir/one/a.bloom", 'link'] as $path) same(true, BloomFilter::open($path)->exists('in one'));
unlink('one/a.bloom');
chdir('/');
--EXPECT--
