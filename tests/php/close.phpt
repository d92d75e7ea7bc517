--TEST--
After close, and where the constructor never ran, every method throws, but close itself and the parameters of a closed one
--FILE--
<?php require __DIR__ . '/helpers.inc';
class Lazy extends BloomFilter { public function __construct() {} }
$closed = new BloomFilter(n: 1000, p: 0.01);
$closed->add('a');
same([null, null], [$closed->close(), $closed->close()]);
$good = new BloomFilter(n: 1000, p: 0.01);
foreach ([$closed, (new ReflectionClass('BloomFilter'))->newInstanceWithoutConstructor(), new Lazy] as $i => $f) {
    foreach ([fn() => $f->add('a'), fn() => $f->exists('a'), fn() => $f->addKey(1), fn() => $f->existKey(1), fn() => $f->hashcode('a'),
              fn() => $f->addMany(['a']), fn() => $f->addMany([]), fn() => $f->existMany(['a']), fn() => $f->existMany([]),
              fn() => $f->addNew(['a']), fn() => $f->union($good), fn() => $good->union($f), fn() => $f->intersect($good),
              fn() => $good->intersect($f), fn() => $f->equals($good), fn() => $good->equals($f), fn() => $f->count(), fn() => count($f),
              fn() => $f->fillRatio(), fn() => $f->fpr(), fn() => $f->clear(), fn() => $f->sync(), fn() => $f->toBytes(),
              fn() => $f->save(__DIR__ . '/never'), fn() => serialize($f), fn() => clone $f, ...is_extension() || !$i ? [fn() => $f->bitset] : []] as $call)
        refused('BloomFilterException', 'closed, or was never constructed', $call);
    try { $f->add('a'); } catch (BloomFilterException $e) { same(BloomFilterException::CLOSED, $e->getCode()); }
    same([false, null], [isset($f->bitset), is_extension() || !$i ? $f->bitset ?? null : null]);
    if (!$i) same([1000, 0.01, 'block'], [$f->n, $f->p, $f->scheme]);
    else refused('Error', 'must not be accessed before initialization', fn() => $f->m);
    $f->close();
}
same(false, file_exists(__DIR__ . '/never'));
--EXPECT--
