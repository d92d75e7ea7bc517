--TEST--
A relative path starts at the working directory, as everywhere in PHP
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
mkdir("$dir/one"); mkdir("$dir/two");
chdir("$dir/one");
$f = new BloomFilter(n: 100, p: 0.01, storage: 'a.bloom');
chdir("$dir/two");
$g = new BloomFilter(n: 200, p: 0.01, storage: 'a.bloom');
$f->add('in one'); $g->add('in two');
same([100, 200], [BloomFilter::open("$dir/one/a.bloom")->n, BloomFilter::open("$dir/two/a.bloom")->n]);
same([true, true], [BloomFilter::open('../one/a.bloom')->exists('in one'), BloomFilter::open('./a.bloom')->exists('in two')]);
chdir($dir);
same([true, true], [BloomFilter::open('one/a.bloom')->exists('in one'), BloomFilter::open('two//a.bloom')->exists('in two')]);
refused('BloomFilterException', "$dir/a.bloom", fn() => BloomFilter::open('a.bloom'));
symlink('one/a.bloom', 'link');
same(true, BloomFilter::open('link')->exists('in one'));
foreach (['with space', "\u{00e9}\u{6f22}", '%s%n%99999d', "line\nfeed", 'none/x', str_repeat('n', 200)] as $name) {
    if (str_contains($name, '/')) { refused('BloomFilterException', "$dir/$name", fn() => new BloomFilter(n: 1, p: 0.1, storage: $name)); continue; }
    same(true, (new BloomFilter(n: 1, p: 0.1, storage: $name))->add('a'));
    same(true, BloomFilter::open("$dir/$name")->exists('a'));
}
refused('BloomFilterException', 'too long', fn() => new BloomFilter(n: 1, p: 0.1, storage: str_repeat('n', 300)));
refused('BloomFilterException', '%s%n.none', fn() => BloomFilter::open('%s%n.none'));
foreach (['one/a.bloom', 'two/a.bloom'] as $name) unlink($name);
chdir('/');
--EXPECT--
