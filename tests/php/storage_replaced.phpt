--TEST--
A file that is renamed over, deleted or cut short while it is open: new objects see the name, old ones keep what they have
--FILE--
<?php require __DIR__ . '/helpers.inc';
$path = folder() . '/a.bloom';
$f = new BloomFilter(n: 1000, p: 0.01, storage: $path);
$f->add('old');
$new = new BloomFilter(n: 1000, p: 0.01);
$new->add('new');
$new->save("$path.new");
rename("$path.new", $path);
$g = BloomFilter::open($path);
same([[true, false], [false, true]], [[$f->exists('old'), $f->exists('new')], [$g->exists('old'), $g->exists('new')]]);
foreach ([fn() => $f->addMany(['to the old one']), fn() => $f->sync()] as $call) refused('BloomFilterException', 'replaced or deleted', $call);
same([true, 1], [$g->add('to the new one'), kept()]);

# another filter altogether, no filter, none
(new BloomFilter(m: 777, n: 10))->save("$path.new");
rename("$path.new", $path);
refused('BloomFilterException', 'm=777', fn() => new BloomFilter(m: 5000, n: 10, storage: $path));
same([777, 1, true], [BloomFilter::open($path)->m, kept(), $f->exists('old')]);
new_file($path, 'no filter');
refused('BloomFilterException', 'not a filter file', fn() => BloomFilter::open($path));
same(0, kept());
unlink($path);
refused('BloomFilterException', 'No such file', fn() => BloomFilter::open($path));
$h = new BloomFilter(n: 500, p: 0.02, storage: $path);
same([true, false, 500, ['a.bloom']], [$f->exists('old'), $h->exists('old'), BloomFilter::open($path)->n, names_in(dirname($path))]);

# cut short
$f = new BloomFilter(m: 1_000_000, n: 100_000, storage: "$path.cut");
[$other, $memory] = [BloomFilter::open("$path.cut"), clone $f];
ftruncate(fopen("$path.cut", 'r+'), 8192);
foreach ([fn() => $f->addMany(['a']), fn() => $f->existMany(['a']), fn() => $f->addNew(['a']), fn() => $f->sync(), fn() => $f->clear(), fn() => count($f), fn() => $f->fpr(),
          fn() => $f->fillRatio(), fn() => $f->toBytes(), fn() => $f->bitset, fn() => clone $f, fn() => $f->union($memory), fn() => $memory->intersect($f), fn() => $f->equals($memory),
          fn() => $f->save("$path.saved"), fn() => $other->existMany(['a']), fn() => BloomFilter::open("$path.cut"), fn() => new BloomFilter(m: 1_000_000, n: 100_000, storage: "$path.cut")] as $call)
    refused('BloomFilterException', '8192 bytes', $call);
same([1_000_000, null, null, ['a.bloom', 'a.bloom.cut']], [$f->m, $f->close(), $other->close(), names_in(dirname($path))]);
--EXPECT--
