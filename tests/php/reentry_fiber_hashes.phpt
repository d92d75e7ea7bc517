--TEST--
A Fiber that waits in a hash function, or in the generator of a batch: the filter is refused or free meanwhile, no key is lost, and every answer is right
--FILE--
<?php require __DIR__ . '/helpers.inc';
$waits = 0;
$hash = function (string $key) use (&$waits) {
    if ($waits && Fiber::getCurrent() && --$waits === 0) Fiber::suspend();
    return crc32("$key.");
};
$hashes = [$hash, fn(string $key) => crc32($key), 'crc32'];
$path = folder() . '/file';
$make = ['memory' => fn() => new BloomFilter(m: 100_000, k: 3, hashes: $hashes), 'file' => fn() => new BloomFilter(m: 100_000, k: 3, hashes: $hashes, storage: $path)];
$batch = urls(200);
$calls = ['add' => fn($f) => $f->add('b'), 'exists' => fn($f) => $f->exists('a'), 'addMany' => fn($f) => $f->addMany($batch), 'existMany' => fn($f) => $f->existMany(['a', 'none']),
    'addNew' => fn($f) => $f->addNew($batch), 'hashcode' => fn($f) => $f->hashcode('a')];
foreach ($make as $home => $new) {
    foreach ($calls as $name => $call) {
        $batched = in_array($name, ['addMany', 'addNew']);
        $fresh = fn() => new BloomFilter(m: 100_000, k: 3, hashes: $hashes);
        $right = $fresh();
        $right->add('a');
        $right = $call($right);
        foreach (['resume', 'throw', 'destroy'] as $end) {
            @unlink($path);
            $f = $new();
            $f->add('a');
            $other = $fresh();                               # the same functions
            $waits = $batched ? 150 : 1;
            $one = new Fiber(fn() => $call($f));
            $one->start();
            same(true, $one->isSuspended(), "$home $name");
            $inner = [fn() => $f->exists('a'), fn() => $f->add('z'), fn() => $f->addMany(['y', 'z']), fn() => $f->close(), fn() => clone $f, fn() => $other->merge($f), fn() => $f->merge($other),
                fn() => $f->clear(), fn() => count($f), fn() => $f->toBytes()];
            foreach ($inner as $i => $do) {
                refused('BloomFilterException', 'in use', $do);
                $two = new Fiber(fn() => refused('BloomFilterException', 'in use', $do));
                $two->start();
                same(true, $two->isTerminated(), "$home $name $i");
            }
            same([true, true, false], [$other->add('o'), $other->exists('o'), $other->exists('a')], "$home $name");
            if ($end === 'resume') { $one->resume(); same($right, $one->getReturn(), "$home $name"); }
            if ($end === 'throw') { try { $one->throw(new DomainException('thrown in')); echo "no exception\n"; } catch (DomainException $e) { same('thrown in', $e->getMessage()); } }
            $one = null;
            same([true, false], $f->existMany(['a', 'none']), "$home $name $end");
            same([true, 'z'], [$f->add('z'), $f->exists('z') ? 'z' : ''], "$home $name $end");
            if ($batched) same(200, count(array_filter($f->existMany($batch))) + ($end === 'resume' ? 0 : $f->addMany($batch)), "$home $name $end");
            $f->close();
        }
    }
}

/* While a generator is read, the filter is nobody's: others add to it, and may close it. */
$f = new BloomFilter(n: 10_000, p: 1e-9);
$keys = function () use ($batch) { foreach ($batch as $i => $key) { if ($i % 50 === 49) Fiber::suspend($i); yield $key; } };
$one = new Fiber(fn() => $f->addMany($keys()));
for ($at = $one->start(); !$one->isTerminated(); $at = $one->resume())
    same([true, true, false], [$f->add("between $at"), $f->exists("between $at"), $f->exists('none')]);
same([200, 200], [$one->getReturn(), count(array_filter($f->existMany($batch)))]);
$one = new Fiber(fn() => $f->rebuild($keys()));
for ($at = $one->start(); !$one->isTerminated(); $at = $one->resume()) same(true, $f->add("rebuilding $at") && $f->exists('between 49'));
same([200, [true, false]], [$one->getReturn(), $f->existMany(['rebuilding 49', 'between 49'])]);
/* To its end, whatever else happened. */
function ended(Fiber $one): mixed { while (!$one->isTerminated()) $one->resume(); return $one->getReturn(); }
$one = new Fiber(fn() => $f->rebuild($keys()));
$one->start();
same([1, true], [$f->rebuild(['other']), $f->add('later')]);             # ends the rebuild before it
refused('BloomFilterException', 'rebuild', fn() => ended($one));
same([true, true, false], [$f->exists('other'), $f->exists('later'), $f->exists($batch[7])]);
$one = new Fiber(fn() => $f->rebuild($keys()));
$one->start();
$one = null;                                                             # never resumed: nothing was replaced
same([true, 1, false], [$f->exists('later'), $f->rebuild(['other']), $f->exists('later')]);
$one = new Fiber(fn() => $f->addMany($keys()));
$one->start();
$f->close();
refused('BloomFilterException', 'closed', fn() => ended($one));
--EXPECT--
