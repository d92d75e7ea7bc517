--TEST--
An exception of a generator goes through, the keys before it are added
--FILE--
<?php require __DIR__ . '/helpers.inc';
$f = new BloomFilter(n: 1000, p: 1e-6);
$g = (function () { yield 'a'; yield 'b'; throw new LogicException('dry'); })();
refused('LogicException', 'dry', fn() => $f->addMany($g));
same([true, true], $f->existMany(['a', 'b']));
$g = (function () { foreach (urls(300) as $url) yield $url; throw new LogicException('late'); })();
refused('LogicException', 'late', fn() => $f->addMany($g));
same(300, count(array_filter($f->existMany(urls(300)))));
$g = (function () { throw new LogicException('at once'); yield 'x'; })();
refused('LogicException', 'at once', fn() => $f->addMany($g));
class Moody implements IteratorAggregate { public function getIterator(): Iterator { throw new LogicException('none'); } }
refused('LogicException', 'none', fn() => $f->addMany(new Moody));
$g = (function () { yield 'used'; })();
foreach ($g as $key);
refused('Exception', 'closed generator', fn() => $f->addMany($g));
--EXPECT--
