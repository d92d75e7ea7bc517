--TEST--
exclusive: one writer of a file while its object is open; others read
--FILE--
<?php require __DIR__ . '/helpers.inc';
$path = folder() . '/a.bloom';
$says = 'has an exclusive writer (pid ' . getmypid() . ')';
$open = fn(bool $exclusive = false) => new BloomFilter(n: 1000, p: 0.01, storage: $path, exclusive: $exclusive);
$f = $open(true);
same([true, 2], [$f->add('a'), $f->addMany(['b', 'c'])]);
$g = $open();
same([true, false], [$g->exists('a'), $g->exists('z')]);
foreach (['add' => ['x'], 'addMany' => [['x']], 'clear' => [], 'rebuild' => [['x']]] as $method => $arguments)
    refused('BloomFilterException', $says, fn() => $g->$method(...$arguments));
refused('BloomFilterException', $says, fn() => $open(true));
refused('BloomFilterException', $says, fn() => BloomFilter::open($path, exclusive: true));
same("$says\n", in_other_php('try { BloomFilter::open(' . var_export($path, true) . ')->add("x"); } catch (BloomFilterException $e) {
    echo substr($e->getMessage(), strpos($e->getMessage(), "has an")), "\n"; }'));
$f->close();
same(true, $g->add('x'));
refused('BloomFilterException', 'has a writer (pid ' . getmypid() . ')', fn() => $open(true));
$g->close(); # a file that the worker keeps open for nobody is in nobody's way
$f = $open(true);
same([true, true], [$f->exists('x'), $f->add('y')]);
unset($f);
same(true, $open()->add('z'));
refused('ValueError', 'exclusive is for mapped files', fn() => new BloomFilter(n: 10, p: 0.1, exclusive: true));
refused('ValueError', 'readOnly', fn() => BloomFilter::open($path, readOnly: true, exclusive: true));
--EXPECT--
