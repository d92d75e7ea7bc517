--TEST--
After close everything is an exception, but close itself and the parameters
--FILE--
<?php require __DIR__ . '/helpers.inc';
$f = new BloomFilter(n: 1000, p: 0.01);
$g = new BloomFilter(n: 1000, p: 0.01);
$f->add('a');
same([null, null], [$f->close(), $f->close()]);
foreach ([fn() => $f->add('a'), fn() => $f->exists('a'), fn() => $f->addMany(['a']), fn() => $f->existMany(['a']), fn() => $f->addNew([]),
          fn() => $f->hashcode('a'), fn() => count($f), fn() => $f->fpr(), fn() => $f->fillRatio(), fn() => $f->clear(), fn() => $f->sync(),
          fn() => $f->toBytes(), fn() => serialize($f), fn() => $f->save(__DIR__ . '/never'), fn() => $f->bitset, fn() => clone $f,
          fn() => $f->union($g), fn() => $g->union($f), fn() => $g->equals($f)] as $i => $call)
    refused('BloomFilterException', 'closed', $call);
try { $f->add('a'); } catch (BloomFilterException $e) { same(BloomFilterException::CLOSED, $e->getCode()); }
same([1000, 0.01, 'block', false, null], [$f->n, $f->p, $f->scheme, isset($f->bitset), $f->bitset ?? null]);
same(false, file_exists(__DIR__ . '/never'));
--EXPECT--
