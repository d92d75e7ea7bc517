--TEST--
References inside arrays are followed
--FILE--
<?php require __DIR__ . '/helpers.inc';
$f = new BloomFilter(n: 1000, p: 1e-6);
$a = 'first'; $b = 42; $keys = [&$a, 'plain', &$b];
same(3, $f->addMany($keys));
same([true, true, true], $f->existMany(['first', 'plain', '42']));
same([0 => true, 1 => true, 2 => true], $f->existMany($keys));
$list = urls(300);
foreach ($list as &$url);
unset($url);
foreach ($list as &$url) $url = (string)$url;
same(300, $f->addMany($list));
$a = 'second';
same([0 => 'second'], $f->addNew($keys));
$a = null;
refused('TypeError', 'null given at index 0', fn() => $f->addMany($keys));
$g = (function &() use (&$b) { $b = 'by reference'; yield $b; })();
same(1, $f->addMany($g));
same(true, $f->exists('by reference'));
--EXPECT--
