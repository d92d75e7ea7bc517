--TEST--
strict_types changes nothing for keys
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/helpers.inc';
$f = new BloomFilter(1000, 10);
same([true, true], [$f->add(42), $f->exists('42')]);
refused('TypeError', 'float given', fn() => $f->add(4.2));
refused('TypeError', 'string given', fn() => new BloomFilter('1000', 10));
same(1000, (new BloomFilter(1e3, 10))->m);
--EXPECT--
