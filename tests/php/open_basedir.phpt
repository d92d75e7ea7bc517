--TEST--
open_basedir holds for every path: kept open, relative, or one that looks like a URL
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
$kept = new BloomFilter(1000, 10, storage: "$dir/a.bloom");
$text = serialize($kept);
same(true, BloomFilter::open("$dir/a.bloom")->add('a'));
ini_set('open_basedir', "$dir/narrow");
chdir("$dir/narrow");
$f = new BloomFilter(1000, 10);
foreach (["$dir/a.bloom", '../a.bloom', "$dir/narrow/../a.bloom", "$dir/narrow/x://../../a.bloom", "file:$dir/a.bloom", 'file:x://../../b.bloom', "file:$dir/narrow/../b.bloom"] as $path)
    foreach ([fn() => BloomFilter::open($path), fn() => new BloomFilter(1000, 10, storage: $path), fn() => BloomFilter::load($path), fn() => $f->save($path),
              fn() => BloomFilter::plan(1000, 10, storage: $path)] as $call) refused('BloomFilterException', 'open_basedir does not allow', $call);
refused('BloomFilterException', 'open_basedir does not allow', fn() => unserialize($text));
same([true, true], [$kept->exists('a'), (new BloomFilter(1000, 10, storage: 'b.bloom'))->add('b')]);
$f->save("$dir/narrow/c.bloom");
same([true, true, true], [BloomFilter::load('c.bloom')->equals($f), BloomFilter::open("$dir/narrow/c.bloom")->equals($f), BloomFilter::open("file:$dir/narrow/c.bloom")->equals($f)]);
echo "as asked\n";
PHP;
echo in_other_php(strtr($code, ['HELPERS' => var_export(__DIR__ . '/helpers.inc', true), 'DIR' => var_export($dir, true)]));
same([['a.bloom', 'narrow'], ['b.bloom', 'c.bloom', 'x:']], [names_in($dir), names_in("$dir/narrow")]);
foreach (['b.bloom', 'c.bloom'] as $name) unlink("$dir/narrow/$name");
rmdir("$dir/narrow/x:");
--EXPECT--
as asked
