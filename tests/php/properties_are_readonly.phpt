--TEST--
Writing any property is an Error
--FILE--
<?php require __DIR__ . '/helpers.inc';
$f = new BloomFilter(1000, 10);
foreach (['m' => 5, 'n' => 5, 'k' => 5, 'p' => 0.5, 'scheme' => 'block', 'bitset' => 'x'] as $name => $value) {
    refused('Error', "Cannot modify readonly property BloomFilter::\$$name", fn() => $f->$name = $value);
    refused('Error', "readonly property BloomFilter::\$$name", function () use ($f, $name) { unset($f->$name); });
    refused('Error', "readonly property BloomFilter::\$$name", function () use ($f, $name) { $r = &$f->$name; });
}
refused('Error', '$m', fn() => $f->m++);
refused('Error', '$bitset', fn() => $f->bitset .= 'x');
refused('Error', '$bitset', fn() => $f->bitset[0] = 'x');
refused('Error', 'readonly', fn() => (new ReflectionProperty('BloomFilter', 'm'))->setValue($f, 1));
refused('Error', 'readonly', fn() => (new ReflectionProperty('BloomFilter', 'bitset'))->setValue($f, 'x'));
refused('Error', 'dynamic property', fn() => $f->M = 5);
same([1000, 10, 70, 'classic', 125], [$f->m, $f->n, $f->k, $f->scheme, strlen($f->bitset)]);
same(125, strlen((new ReflectionProperty('BloomFilter', 'bitset'))->getValue($f)));
--EXPECT--
