--TEST--
A filter with a storage is a file that others open
--FILE--
<?php require __DIR__ . '/helpers.inc';
$path = folder() . '/a.bloom';
$f = new BloomFilter(n: 1000, p: 0.01, storage: $path);
same(['a.bloom'], names_in(dirname($path)), 'no temporary file stays');
same([1000, 0.01, 'block', 4096 + $f->m / 8], [$f->n, $f->p, $f->scheme, filesize($path)]);
same([0, true, false, true], [count($f), $f->add('one'), $f->add('one'), $f->exists('one')]);
same(true, $f->addMany(urls(1000)) > 980);
$code = '$f = BloomFilter::open(' . var_export($path, true) . '); echo (int)$f->exists("one"), $f->add("two"), $f->n;';
same('111000', in_other_php($code));
same([true, false], [$f->exists('two'), $f->exists('three')]);
unset($f);
$again = new BloomFilter(n: 1000, p: 0.01, storage: $path);
same([true, 1000], [$again->exists('two'), array_sum($again->existMany(urls(1000)))]);
--EXPECT--
