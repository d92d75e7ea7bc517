--TEST--
Writing any property is an Error; m of a filter that has grown is the same wherever it is read
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

if (!is_extension()) return;
$grown = function (): BloomFilter { $f = new BloomFilter(n: 10, p: 0.01, grow: 2.0); $f->addMany(urls(1000)); return $f; };
$m = $grown()->info()['m'];
same($m, get_object_vars($grown())['m']);
same($m, ((array)$grown())['m']);
same($m, BloomFilter::fromJson(json_encode($grown()))->m);
foreach ($grown() as $name => $value) if ($name === 'm') same($m, $value);
same(true, str_contains(var_export($grown(), true), "'m' => $m,"));
same($m, $grown()->m);
$f = $grown();
refused('InvalidArgumentException', 'not compatible with ArrayObject', fn() => @new ArrayObject($f)); # PHP 8.5 calls any object there deprecated
refused('Error', 'already constructed', fn() => $f->__construct(n: 10, p: 0.1));
same([$m, true], [$f->m, $f->exists(urls(1)[0])]);
--EXPECT--
