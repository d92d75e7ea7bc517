--TEST--
A key that a scheme cannot hold is a ValueError; in a batch it is named, and the keys before it are added
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$f = new BloomFilter(m: 65536, scheme: 'java7');
refused('ValueError', 'UTF-8', fn() => $f->add("\xff"));
refused('ValueError', 'UTF-8', fn() => $f->exists("a\xff"));
refused('ValueError', 'UTF-8', fn() => $f->hashcode("\xed\xa0\x80"));
$keys = urls(300);
$keys[] = "\xff";
$keys[] = 'after';
refused('ValueError', 'at byte 0: its scheme hashes UTF-16 text, given at index 300', fn() => $f->addMany($keys));
same([true], array_unique($f->existMany(urls(300))));
same(false, $f->exists('after'));
refused('ValueError', 'given at index 300', fn() => $f->addMany((fn() => yield from $keys)()));
refused('ValueError', 'given at index "b"', fn() => $f->existMany(['a' => 'x', 'b' => "\x80", 'c' => 'y']));
$holes = [5 => 'x', 7 => 'y', 9 => "\x80"];
refused('ValueError', 'given at index 9', fn() => $f->addNew($holes));
?>
--EXPECT--
