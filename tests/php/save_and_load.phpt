--TEST--
save writes a file that load reads into memory
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
$f = new BloomFilter(n: 10000, p: 0.01);
$f->addMany(urls(1000));
same(null, $f->save("$dir/a.bloom"));
same(['a.bloom'], array_values(array_diff(scandir($dir), ['.', '..'])), 'no temporary file stays');
same($f->toBytes(), file_get_contents("$dir/a.bloom"));
$g = BloomFilter::load("$dir/a.bloom");
same([true, $f->n, $f->p], [$f->equals($g), $g->n, $g->p]);
$g->add('more');
same(false, BloomFilter::load("$dir/a.bloom")->exists('more'));
$g->save("$dir/a.bloom");
same(true, BloomFilter::load("$dir/a.bloom")->exists('more'));
chdir($dir);
$g->save('relative.bloom');
same(true, BloomFilter::load('./relative.bloom')->equals($g));
same(true, is_file("$dir/relative.bloom"));
--EXPECT--
