--TEST--
created: whether this constructor made the filter
--FILE--
<?php require __DIR__ . '/helpers.inc';
$path = sys_get_temp_dir() . '/bf-created-' . getmypid() . '.bloom';
$f = new BloomFilter(n: 1000, p: 0.01);
same(true, $f->created);
same(true, isset($f->created));
$f->add('a');
same(true, $f->created);
same(false, (clone $f)->created);
same(false, $f->union($f)->created);
same(false, BloomFilter::fromBytes($f->toBytes())->created);
same(false, unserialize(serialize($f))->created);
$f->save($path);
same(false, BloomFilter::load($path)->created);
same(false, BloomFilter::open($path)->created);
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
