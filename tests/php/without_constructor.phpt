--TEST--
An object made without its constructor throws from every method
--FILE--
<?php require __DIR__ . '/helpers.inc';
class Lazy extends BloomFilter { public function __construct() {} }
foreach ([(new ReflectionClass('BloomFilter'))->newInstanceWithoutConstructor(), new Lazy] as $f) {
    $good = new BloomFilter(1000, 10);
    foreach ([fn() => $f->add('a'), fn() => $f->exists('a'), fn() => $f->addKey(1), fn() => $f->existKey(1), fn() => $f->hashcode('a'),
              fn() => $f->addMany(['a']), fn() => $f->addMany([]), fn() => $f->existMany(['a']), fn() => $f->existMany([]),
              fn() => $f->addNew(['a']), fn() => $f->union($good), fn() => $good->union($f), fn() => $f->intersect($good),
              fn() => $good->intersect($f), fn() => $f->equals($good), fn() => $good->equals($f), fn() => $f->count(), fn() => count($f),
              fn() => $f->fillRatio(), fn() => $f->fpr(), fn() => $f->clear(), fn() => $f->sync(), fn() => $f->toBytes(),
              fn() => $f->save(__DIR__ . '/never'), fn() => serialize($f), fn() => $f->bitset, fn() => clone $f] as $call)
        refused('BloomFilterException', 'closed, or was never constructed', $call);
    same(false, isset($f->bitset));
    $f->close();
    refused('Error', 'must not be accessed before initialization', fn() => $f->m);
}
--EXPECT--
