--TEST--
add: true = surely new, false = seen before
--FILE--
<?php require __DIR__ . '/helpers.inc';
$f = new BloomFilter(n: 1000, p: 0.01);
same([false, true, false, true], [$f->exists('a'), $f->add('a'), $f->add('a'), $f->exists('a')]);
$new = 0;
foreach (urls(1000) as $url) $new += $f->add($url);
same(true, $new > 980, "$new of 1000 were new");
foreach (urls(1000) as $url) if (!$f->exists($url) || $f->add($url)) echo "lost $url\n";
--EXPECT--
