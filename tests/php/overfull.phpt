--TEST--
overfull: adds past the check are refused, with the index of the first key that is not added
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
$warnings = 0;
set_error_handler(function () use (&$warnings) { $warnings++; return true; });
$named = [];
foreach (urls(4000) as $i => $url) $named["key $i"] = $url;
$calls = [
    'add' => function ($f, $keys) { foreach ($keys as $key) $f->add($key); },
    'addMany' => fn($f, $keys) => $f->addMany($keys),
    'addNew' => fn($f, $keys) => $f->addNew($keys),
    'generator' => fn($f, $keys) => $f->addMany((function () use ($keys) { yield from $keys; })()),
    'named' => fn($f, $keys) => $f->addMany($named),
];
foreach (['BloomFilter', 'CountingBloomFilter'] as $class) foreach (['memory', 'exclusive', 'shared'] as $home) foreach ($calls as $name => $call) {
    $storage = $home === 'memory' ? null : "$dir/$class$name$home";
    $f = new $class(n: 1000, p: 0.01, storage: $storage, exclusive: $home === 'exclusive', overfull: 'raise');
    try {
        $call($f, urls(4000));
        echo "$class $name: no exception\n";
    } catch (BloomFilterException $e) {
        same(BloomFilterException::FULL, $e->getCode());
        same(true, str_contains($e->getMessage(), 'is full: it holds the n=1000 keys that it is sized for'), $e->getMessage());
    }
    $in = 0;
    while ($f->exists(urls(4000)[$in])) $in++;
    $at = $e->index ?? null;
    if ($name === 'named') $at = (int) substr($at, 4);
    same(true, $name === 'add' ? $at === null : $at === $in, "$class $name: $in");
    same(true, $home === 'shared' ? $in > 930 && $in < 1100 : $in >= 1000 && $in < 1030, "$class $name $home: $in");
    $full = urls(4000)[$in];
    refused('BloomFilterException', 'n=1000', fn() => $f->add($full));
    same([false, 0, []], [$f->add(urls(1)[0]), $f->addMany(urls($in)), $f->addNew(urls($in))]); # an add is a test
    refused('BloomFilterException', 'n=1000', fn() => (clone $f)->addMany(urls(4000)));
    $f->clear();
    if ($home !== 'shared' && $name === 'add') {
        $new = 0;
        try { foreach (urls(4000) as $url) $new += (int) $f->add($url); } catch (BloomFilterException) { }
        same(1000, $new);
        $f->clear();
    }
    same(true, $f->add('x'), "$class $name");
    if ($home === 'shared') { # another policy is another handle
        $plain = $class::open($storage, overfull: 'ignore');
        $plain->addMany(urls(4000));
        $f->clear();
    }
    $f->rebuild(urls(500));
    same(true, $f->existMany(urls(500)) === array_fill(0, 500, true));
}
same(0, $warnings);
foreach ([[1, 'ignore', 0], [1, null, 1], [1, 'warn', 1], [0, 'warn', 1], [0, null, 0]] as [$ini, $overfull, $said]) {
    ini_set('bloomfilter.warn', (string) $ini);
    $warnings = 0;
    $f = new BloomFilter(n: 100, p: 0.01, overfull: $overfull);
    $f->addMany(urls(1000));
    $f->addMany([]);
    same($said, $warnings, "$ini $overfull");
}
refused('ValueError', 'overfull must be warn, raise or ignore, got Raise', fn() => new BloomFilter(n: 100, p: 0.01, overfull: 'Raise'));
--EXPECT--
