--TEST--
created: whether this constructor made the filter
--FILE--
<?php require __DIR__ . '/helpers.inc';
$path = folder() . '/created.bloom';
$f = new BloomFilter(n: 1000, p: 0.01);
same([true, true], [$f->created, isset($f->created)]);
$f->add('a');
$f->save($path);
foreach ([clone $f, $f->union($f), BloomFilter::fromBytes($f->toBytes()), unserialize(serialize($f)), BloomFilter::load($path), BloomFilter::open($path)] as $i => $other) same(false, $other->created, "way $i");
same(true, $f->created);
unlink($path);
same(true, (new BloomFilter(n: 100, p: 0.01, grow: 2.0))->created);
same(true, (new CountingBloomFilter(n: 100, p: 0.01))->created);

$first = new BloomFilter(n: 1000, p: 0.01, storage: $path);
$second = new BloomFilter(n: 1000, p: 0.01, storage: $path);      // the worker has it open
same([true, false], [$first->created, $second->created]);
$first->close();
$second->close();
refused(BloomFilterException::class, "closed", fn() => $first->created);
same(false, (new BloomFilter(n: 1000, p: 0.01, storage: $path))->created);
unlink($path);
refused(Error::class, "Cannot modify readonly property BloomFilter::\$created", function () use ($f) { $f->created = false; });
$f = new BloomFilter(n: 100, p: 0.01);
same(true, $f->created);
$f->rebuild(['a']);
same(false, $f->created); # it is filled
--EXPECT--
