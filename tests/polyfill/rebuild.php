<?php
/* rebuild.php: what is done to a filter while it is rebuilt.  Members of serialized data. */
require __DIR__ . '/../php/helpers.inc';
$shapes = [['BloomFilter', ['p' => 0.001]], ['BloomFilter', ['p' => 0.001, 'scheme' => 'classic', 'shards' => 3]], ['CountingBloomFilter', ['p' => 0.001]]];
foreach ($shapes as [$class, $how]) {
    $make = function (string ...$keys) use ($class, $how) { $f = new $class(...$how, n: 1000); $f->addMany($keys); return $f; };
    $during = function (callable $call) { yield 'one'; $call(); yield 'two'; };

    # what is merged is kept
    $f = $make('old');
    same(2, $f->rebuild($during(fn() => $f->merge($make('merged')))));
    same([false, true, true, true], array_values($f->existMany(['old', 'one', 'two', 'merged'])));

    # another rebuild ends this one, even if it fails
    $f = $make('old');
    refused('BloomFilterException', 'the filter: this rebuild is over, another one began after it: nothing was changed', fn() => $f->rebuild($during(fn() => $f->rebuild(['inner']))));
    same([false, false, true], array_values($f->existMany(['old', 'one', 'inner'])));
    $failing = function () use ($f) { $f->add('within'); yield 'x'; throw new LogicException; };
    try {
        $f->rebuild($during(function () use ($f, $failing) { try { $f->rebuild($failing()); } catch (LogicException) {} }));
        same('an exception', 'none');
    } catch (BloomFilterException $e) { same(BloomFilterException::BUSY, $e->getCode()); }
    same([true, true, false, false], array_values($f->existMany(['inner', 'within', 'one', 'x'])));
    same(1, $f->rebuild(['after']));
    same([true, false], [$f->exists('after'), $f->exists('inner')]);
}

# serialized data cannot set what is private to the class
$data = $make('a')->toBytes();
foreach (["\0BloomFilter\0filter", 'filter'] as $name) {
    $f = (new ReflectionClass('BloomFilter'))->newInstanceWithoutConstructor();
    try { $f->__unserialize(['bytes' => (new BloomFilter(n: 10, p: 0.1))->toBytes(), 'members' => [$name => null]]); } catch (Error) {}
    same(false, $f->exists('a'), $name);
}
echo "done\n";
