--TEST--
At most bloomfilter.max_maps files are kept open, the least recently used goes
--INI--
bloomfilter.max_maps=3
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
function open_now(): string                                 # names of the files that the process has open
{
    foreach (scandir('/proc/self/fd') as $n)                # a file's creator sees its temporary name there
        if (preg_match("~^$GLOBALS[dir]/([a-e])(\.tmp|$)~", (string)@readlink("/proc/self/fd/$n"), $match)) $names[$match[1]] = $match[1];
    ksort($names);
    return implode($names);
}
$linux = is_dir('/proc/self/fd');
foreach (['a', 'b', 'c', 'd', 'e'] as $name) { new BloomFilter(n: 100, p: 0.01, storage: "$dir/$name"); $kept[] = kept(); }
same([[1, 2, 3, 3, 3], $linux ? 'cde' : ''], [$kept, open_now()]);
BloomFilter::open("$dir/c");
BloomFilter::open("$dir/a", readOnly: true);
same($linux ? 'ace' : '', open_now());
$e = BloomFilter::open("$dir/e");
foreach (['a', 'b', 'c'] as $name) BloomFilter::open("$dir/$name");
same([3, $linux ? 'abce' : '', true, true], [kept(), open_now(), $e->add('x'), BloomFilter::open("$dir/e")->exists('x')]);
unset($e);
same([3, $linux ? 'bce' : ''], [kept(), open_now()]);
$many = [];
for ($i = 0; $i < 50; $i++) $many[] = new BloomFilter(n: 100, p: 0.01, storage: "$dir/many $i");
foreach ($many as $i => $f) $f->add("key $i");
foreach ($many as $i => $f) same([true, true], [$f->exists("key $i"), BloomFilter::open("$dir/many $i")->exists("key $i")]);
same(3, kept());
same(false, ini_set('bloomfilter.max_maps', '10'));

same('64', in_other_php("echo ini_get('bloomfilter.max_maps');", '-d bloomfilter.max_maps=-5'));     # as none given
$none = <<<'PHP'
require HELPERS;
$f = new BloomFilter(n: 100, p: 0.01, storage: PATH);
$g = BloomFilter::open(PATH);
same([true, true, 0], [$f->add('a'), $g->exists('a'), kept()]);
$f->close();
same([true, true], [$g->exists('a'), BloomFilter::open(PATH)->exists('a')]);
unset($g);
file_put_contents(PATH, saved(new BloomFilter(m: 33, n: 3)));       # even what was written in place is read anew
same(33, BloomFilter::open(PATH)->m);
PHP;
echo in_other_php(strtr($none, ['HELPERS' => var_export(__DIR__ . '/helpers.inc', true), 'PATH' => "'$dir/none'"]), '-d bloomfilter.max_maps=0');
--EXPECT--
