--TEST--
A new object sees the file that was renamed over the old one; old objects keep the old one
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
refused('BloomFilterException', 'replaced or deleted', fn() => $f->addMany(['to the old one']));
$g->add('to the new one');
same([false, true], [$g->exists('to the old one'), $g->exists('to the new one')]);
refused('BloomFilterException', 'replaced or deleted', fn() => $f->sync());
same(1, kept());

# as another filter altogether
(new BloomFilter(m: 777, n: 10))->save("$path.new");
rename("$path.new", $path);
same([777, 'classic', 1], [BloomFilter::open($path)->m, BloomFilter::open($path)->scheme, kept()]);
refused('BloomFilterException', 'm=777', fn() => new BloomFilter(m: 5000, n: 10, storage: $path));
same([true, true], [$f->exists('old'), $g->exists('new')]);

# as something that is no filter
file_put_contents("$path.new", 'no filter');
rename("$path.new", $path);
refused('BloomFilterException', 'not a filter file', fn() => BloomFilter::open($path));
same(0, kept());
--EXPECT--
