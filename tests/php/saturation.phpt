--TEST--
One warning when more than half of the bits are set; saturated(), info(), subsets and estimates
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
$warnings = [];
set_error_handler(function ($level, $text) use (&$warnings) { $warnings[] = [$level, $text]; return true; });
$calls = [
    'add' => function ($f, $keys) { foreach ($keys as $key) $f->add($key); },
    'addMany' => fn($f, $keys) => $f->addMany($keys),
    'addNew' => fn($f, $keys) => $f->addNew($keys),
];
foreach (['BloomFilter', 'CountingBloomFilter'] as $class) foreach ([null, "$dir/f.bloom"] as $storage) foreach ($calls as $name => $call) {
    if ($storage && file_exists($storage)) unlink($storage);
    $warnings = [];
    $f = new $class(n: 1000, p: 0.01, storage: $storage);
    $call($f, urls(500));
    same([[], false], [$warnings, $f->saturated()], "$class $name");
    $call($f, urls(3000));
    $call($f, urls(3000, 'other'));
    same([1, true, true], [count($warnings), $f->saturated(), $f->info()['saturated']], "$class $name");
    same(E_USER_WARNING, $warnings[0][0]);
    same(true, str_contains($warnings[0][1], $class === 'BloomFilter' ? 'half of the bits of a filter sized for n=1000' : 'half of the counters'), $warnings[0][1]);
    $f->clear();
    $call($f, urls(4000));
    $f->addMany([]); # a warning comes before the keys of the next call
    same([2, true], [count($warnings), $f->saturated()], "$class $name cleared");
}
$warnings = [];
ini_set('bloomfilter.warn', '0');
$f = new BloomFilter(n: 100, p: 0.01);
$f->addMany(urls(1000));
same([[], true], [$warnings, $f->saturated()]);
ini_set('bloomfilter.warn', '1');
$a = new BloomFilter(n: 1000, p: 0.01);
$b = new BloomFilter(n: 1000, p: 0.01);
$a->addMany(urls(700));
$b->addMany(urls(900, 'b'));
$a->merge($b);
same([0, true], [count($warnings), $a->saturated()]);
$a->add('x');
same(1, count($warnings));

# where the handler throws, nothing of the call was added, so that repeating it tells the truth
$calls += [
    'generator' => fn($f, $keys) => $f->addMany((function () use ($keys) { yield from $keys; })()),
    'merge' => function ($f, $keys) { $other = clone $f; $other->clear(); $other->addMany($keys); $f->merge($other); },
];
set_error_handler(fn($level, $text) => throw new LogicException('full'));
foreach (['BloomFilter', 'CountingBloomFilter'] as $class) foreach ([null, "$dir/g.bloom"] as $storage) foreach ($calls as $name => $call) {
    if ($storage && file_exists($storage)) unlink($storage);
    $f = new $class(n: 100, p: 0.01, storage: $storage);
    $thrown = 0;
    for ($i = 0; $i < 300; $i++) {
        $keys = urls($name === 'add' ? 1 : 10, "$name $i");
        $before = $f->bitset;
        try {
            $call($f, $keys);
        } catch (LogicException) {
            $thrown++;
            same($before, $f->bitset);
            $call($f, $keys);
            same(false, in_array(false, $f->existMany($keys), true));
        }
    }
    same(1, $thrown, "$class $name");
}


# the handler may close the filter, or use it
foreach ($calls as $name => $call) {
    $f = new BloomFilter(n: 100, p: 0.01);
    set_error_handler(function () use ($f) { $f->close(); return true; });
    refused('BloomFilterException', 'closed', function () use ($f, $call, $name) {
        for ($i = 0; $i < 300; $i++) $call($f, urls($name === 'add' ? 1 : 10, "$name $i"));
    });
    $f = new BloomFilter(n: 100, p: 0.01);
    $known = null;
    set_error_handler(function () use ($f, &$known) { $known = count($f); $f->add('handled'); return true; });
    for ($i = 0; $i < 300; $i++) $call($f, urls($name === 'add' ? 1 : 10, "$name $i"));
    same([true, true], [$known > 100, $f->exists('handled')], $name);
}

restore_error_handler();
$a = new BloomFilter(n: 2000, p: 0.001, secret: '0123456789abcdef');
$b = new BloomFilter(n: 2000, p: 0.001, secret: '0123456789abcdef');
$a->addMany(urls(1000));
$b->addMany(array_slice(urls(1600), 600));
$part = new BloomFilter(n: 2000, p: 0.001, secret: '0123456789abcdef');
$part->addMany(array_slice(urls(500), 300));
same([true, false, false, true], [$part->isSubsetOf($a), $a->isSubsetOf($part), $a->isSubsetOf($b), $a->isSubsetOf($a)]);
same([true, true, $a->union($b)->count()], [abs($a->intersectionCount($b) - 400) < 60, abs($a->unionCount($b) - 1600) < 60, $a->unionCount($b)]);
foreach (['isSubsetOf', 'merge', 'unionCount', 'intersectionCount'] as $method) {
    refused('ValueError', 'same m', fn() => $a->$method(new BloomFilter(n: 3000, p: 0.001, secret: '0123456789abcdef')));
    refused('TypeError', 'BloomFilter', fn() => $a->$method([]));
}
$info = $a->info();
same(['m', 'n', 'k', 'p', 'scheme', 'home', 'storage', 'key', 'counting', 'shards', 'parts', 'grow', 'window', 'bytes', 'keyed', 'readOnly', 'ones', 'fillRatio', 'count', 'fpr', 'saturated'], array_keys($info));
same([$a->m, 2000, $a->k, 0.001, 'block', 'memory', null, null, false, 1, $a->partInfo(), 0.0, 0.0, strlen($a->bitset), true, false, count(positions_of($a->bitset)), $a->fillRatio(), count($a), $a->fpr(), false], array_values($info));
$info = CountingBloomFilter::open("$dir/f.bloom", readOnly: true)->info();
same(['file', "$dir/f.bloom", true, true], [$info['home'], $info['storage'], $info['counting'], $info['readOnly']]);
--EXPECT--
