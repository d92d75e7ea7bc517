--TEST--
overfull: adds past the check are refused, with the index of the first key that is not added; it is not stored, and each way to read a filter takes it
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
$warnings = 0;
set_error_handler(function () use (&$warnings) { $warnings++; return true; });
$keys = urls(4000);
$named = [];
foreach ($keys as $i => $url) $named["key $i"] = $url;
$calls = [
    'add' => function ($f) use ($keys) { foreach ($keys as $key) $f->add($key); },
    'addMany' => fn($f) => $f->addMany($keys),
    'addNew' => fn($f) => $f->addNew($keys),
    'generator' => fn($f) => $f->addMany((function () use ($keys) { yield from $keys; })()),
    'named' => fn($f) => $f->addMany($named),
];
$homes = is_extension() ? ['memory', 'exclusive', 'shared'] : ['memory'];
foreach (['block' => 'BloomFilter', 'classic' => 'BloomFilter', 'counting' => 'CountingBloomFilter'] as $kind => $class) foreach ($homes as $home) foreach ($calls as $name => $call) {
    $storage = $home === 'memory' ? null : "$dir/$kind$name$home";
    $f = new $class(n: 1000, p: 0.01, scheme: $kind === 'classic' ? $kind : null, storage: $storage, exclusive: $home === 'exclusive', overfull: 'raise');
    $e = null;
    try {
        $call($f);
    } catch (BloomFilterException $e) {
        same(true, str_contains($e->getMessage(), 'is full: it holds the n=1000 keys that it is sized for'), $e->getMessage());
    }
    same(BloomFilterException::FULL, $e?->getCode(), "$kind $name");
    $in = 0;
    while ($f->exists($keys[$in])) $in++;
    $at = $e->index ?? null;
    if ($name === 'named') $at = (int) substr($at, 4);
    same(true, $name === 'add' ? $at === null : $at === $in, "$kind $name: $in");
    same(true, $home === 'shared' ? $in > 930 && $in < 1100 : $in >= 1000 && $in < 1030, "$kind $name $home: $in");
    refused('BloomFilterException', 'n=1000', fn() => $f->add($keys[$in]));
    same([false, 0, []], [$f->add($keys[0]), $f->addMany(array_slice($keys, 0, $in)), $f->addNew(array_slice($keys, 0, $in))]); # an add is a test
    foreach ([fn() => clone $f, fn() => unserialize(serialize(clone $f)), fn() => $f->union(clone $f)] as $copy) refused('BloomFilterException', 'n=1000', fn() => $copy()->addMany($keys));
    $f->clear();
    if ($home !== 'shared' && $name === 'add') {
        $new = 0;
        try { foreach ($keys as $url) $new += (int) $f->add($url); } catch (BloomFilterException) { }
        same(1000, $new);
        $f->clear();
    }
    same(true, $f->add('x'), "$kind $name");
    if ($home === 'shared') { # another policy is another handle
        $class::open($storage, overfull: 'ignore')->addMany($keys);
        $f->clear();
    }
    $f->rebuild(urls(500));
    same(true, $f->existMany(urls(500)) === array_fill(0, 500, true));
}
same(0, $warnings);

class Own extends BloomFilter {}
$ways = [
    'fromBytes' => fn($f, $how) => $f::fromBytes($f->toBytes(), overfull: $how),
    'fromBase64' => fn($f, $how) => $f::fromBase64($f->toBase64(), overfull: $how),
    'load' => fn($f, $how) => $f::load("$dir/a", overfull: $how),
    'stream' => fn($f, $how) => $f::load("file://$dir/a", overfull: $how),
    'serialize' => fn($f, $how) => unserialize(serialize($f::fromBytes($f->toBytes(), overfull: $how))),
    'clone' => fn($f, $how) => clone $f::fromBytes($f->toBytes(), overfull: $how),
];
if (is_extension()) {
    ini_set('bloomfilter.unserialize_storage', '1');
    $ways['open'] = fn($f, $how) => $f::open("$dir/a", readOnly: false, overfull: $how);
    $ways['serialize a file'] = fn($f, $how) => unserialize(serialize($f::open("$dir/a", overfull: $how)));
}
foreach (['BloomFilter', 'Own', 'CountingBloomFilter'] as $class) {
    $f = new $class(n: 1000, p: 0.01, overfull: 'ignore');
    $f->addMany(urls(3000));
    $f->save("$dir/a");
    foreach ($ways as $name => $way) foreach ([null, 'warn', 'ignore', 'raise'] as $how) foreach (is_extension() ? [0, 1] : [1] as $ini) {
        ini_set('bloomfilter.warn', (string) $ini);
        $warnings = 0;
        $g = $way($f, $how);
        same([$class, true], [get_class($g), $g->equals($f)]);
        if ($how === 'raise') refused('BloomFilterException', 'n=1000', fn() => $g->addMany(urls(1000, 'b')));
        else $g->addMany(urls(1000, 'b'));
        same($how === 'warn' || ($how === null && $ini) ? 1 : 0, $warnings, "$class $name $how $ini");
        $g->close();
        $f->save("$dir/a");
    }
}
$bits = BloomFilter::fromBytes($f->toPlain()->toBytes('bits'), format: 'bits', m: $f->m, n: $f->n, k: $f->k, scheme: $f->scheme, overfull: 'raise');
refused('BloomFilterException', 'n=1000', fn() => $bits->addMany(urls(1000, 'c')));
foreach ([fn() => new BloomFilter(n: 10, p: 0.1, overfull: 'Raise'), fn() => BloomFilter::fromBytes('', overfull: 'Raise'), fn() => BloomFilter::fromBase64('', overfull: 'Raise'),
    fn() => BloomFilter::load("$dir/a", overfull: 'Raise'), fn() => unserialize(str_replace('raise', 'Raise', serialize($bits)))] as $call) refused('ValueError', 'overfull must be', $call);
--EXPECT--
