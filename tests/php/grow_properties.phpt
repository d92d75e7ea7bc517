--TEST--
m of a filter that has grown is the same wherever it is read, and nothing but the filter writes it
--FILE--
<?php require __DIR__ . '/helpers.inc';
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
