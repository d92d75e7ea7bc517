--TEST--
open_basedir holds for files that are kept open, and for paths that look like URLs
--INI--
bloomfilter.unserialize_storage=1
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
mkdir("$dir/narrow");
mkdir("$dir/narrow/x:");
$code = <<<'PHP'
require HELPERS;
$dir = DIR;
$f = new BloomFilter(1000, 10, storage: "$dir/a.bloom");
$text = serialize($f);
same(true, BloomFilter::open("$dir/a.bloom")->add('a'));
ini_set('open_basedir', "$dir/narrow");
chdir("$dir/narrow");
foreach ([fn() => BloomFilter::open("$dir/a.bloom"), fn() => new BloomFilter(1000, 10, storage: "$dir/a.bloom"), fn() => unserialize($text),
          fn() => BloomFilter::open('../a.bloom'), fn() => BloomFilter::open("$dir/narrow/x://../../a.bloom"), fn() => BloomFilter::open('file:x://../../a.bloom'),
          fn() => new BloomFilter(1000, 10, storage: 'file:x://../../b.bloom')] as $call)
    refused('BloomFilterException', 'open_basedir does not allow', $call);
same([true, true], [$f->exists('a'), (new BloomFilter(1000, 10, storage: 'b.bloom'))->add('b')]);
echo "as asked\n";
PHP;
echo in_other_php(strtr($code, ['HELPERS' => var_export(__DIR__ . '/helpers.inc', true), 'DIR' => var_export($dir, true)]));
same(['b.bloom', 'x:'], names_in("$dir/narrow"));
unlink("$dir/narrow/b.bloom");
rmdir("$dir/narrow/x:");
--EXPECT--
as asked
