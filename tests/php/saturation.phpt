--TEST--
One warning when more than half of the bits are set; saturated(), info(), subsets and estimates
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
$homes = is_extension() ? [null, "$dir/f.bloom"] : [null];
$warnings = [];
$heard = function ($level, $text) use (&$warnings) { $warnings[] = [$level, $text]; return true; };
set_error_handler($heard);
$calls = [
    'add' => function ($f, $keys) { foreach ($keys as $key) $f->add($key); },
    'addMany' => fn($f, $keys) => $f->addMany($keys),
    'addNew' => fn($f, $keys) => $f->addNew($keys),
];
foreach (['BloomFilter', 'CountingBloomFilter'] as $class) foreach ($homes as $storage) foreach ($calls as $name => $call) {
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
if (is_extension()) {
    $warnings = [];
    ini_set('bloomfilter.warn', 0);
    $f = new BloomFilter(n: 100, p: 0.01);
    $f->addMany(urls(1000));
    same([[], true], [$warnings, $f->saturated()]);
    ini_set('bloomfilter.warn', 1);
    $now = 1e9;
    $f = new BloomFilter(n: 1000, p: 0.01, window: 60, clock: function () use (&$now) { return $now; });
    for ($i = 0; $i < 5; $i++, $now += 15) $f->addMany(range(0, 999));
    same([[], false], [$warnings, $f->saturated()]);
    $f->addMany(range(1000, 49999));
    $f->addMany([]);
    same([1, true, true], [count($warnings), $f->saturated(), $f->info()['saturated']], 'a window has many more keys than n');
}
$warnings = [];
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
foreach (['BloomFilter', 'CountingBloomFilter'] as $class) foreach ($homes as $storage) foreach ($calls as $name => $call) {
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

# the handler may close the filter, use it, or drop it
$ways = ['close' => fn($f) => $f->close(), 'add' => fn($f) => $f->add('handled'), 'clear' => fn($f) => $f->clear(), 'clone' => fn($f) => clone $f, 'merge' => fn($f) => $f->merge($b),
    'drop' => function () { $GLOBALS['f'] = null; }];
foreach ($ways as $way => $handler) foreach ($calls as $name => $call) {
    $f = new BloomFilter(n: 1000, p: 0.01);
    $f->addMany(urls(1500, 'first'));
    $warned = 0;
    set_error_handler(function () use (&$warned, $handler) { if ($warned++ === 0) $handler($GLOBALS['f']); return true; });
    $known = null;
    try {
        $call($f, urls(500, $name));
        $known = $f?->exists('handled');
    } catch (BloomFilterException $e) {
        same('close', $way, "$name: {$e->getMessage()}");
    }
    same([true, $way === 'close' || $way === 'drop' ? null : $way === 'add'], [$warned > 0, $known], "$way $name");
}

restore_error_handler();
set_error_handler($heard);
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
same(['m' => $a->m, 'n' => 2000, 'k' => $a->k, 'p' => 0.001, 'scheme' => 'block', 'home' => 'memory', 'storage' => null, 'key' => null, 'counting' => false, 'shards' => 1,
    'parts' => $a->partInfo(), 'grow' => 0.0, 'window' => 0.0, 'bytes' => strlen($a->bitset), 'keyed' => true, 'readOnly' => false, 'ones' => count(positions_of($a->bitset)),
    'fillRatio' => $a->fillRatio(), 'count' => count($a), 'fpr' => $a->fpr(), 'saturated' => false], $info);
if (is_extension()) {
    $info = CountingBloomFilter::open("$dir/f.bloom", readOnly: true)->info();
    same(['file', "$dir/f.bloom", true, true], [$info['home'], $info['storage'], $info['counting'], $info['readOnly']]);
}
--EXPECT--
