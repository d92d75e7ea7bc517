<?php
/* overfull.php - what overfull: "raise" does to each way of adding; test_same_calls.py compares what it prints with the extension. */
require __DIR__ . '/../php/helpers.inc';
$named = [];
foreach (urls(4000) as $i => $url) $named["key $i"] = $url;
$calls = [
    'add' => function ($f, $keys) { foreach ($keys as $key) $f->add($key); },
    'addMany' => fn($f, $keys) => $f->addMany($keys),
    'addNew' => fn($f, $keys) => $f->addNew($keys),
    'generator' => fn($f, $keys) => $f->addMany((function () use ($keys) { yield from $keys; })()),
    'named' => fn($f, $keys) => $f->addMany($named),
    'merge' => function ($f, $keys) { $g = clone $f; try { $g->addMany($keys); } catch (Throwable) {} $f->merge($g); $f->add('q'); },
    'union' => function ($f, $keys) { $g = clone $f; try { $g->addMany($keys); } catch (Throwable) {} $u = $f->union($g); for($i=0;$i<3000;$i++) $u->add("u$i"); },
    'rebuild' => fn($f, $keys) => print($f->rebuild($keys)."\n"),
    'base64' => function ($f, $keys) { $g = BloomFilter::fromBase64($f->toBase64(), overfull: 'raise'); $g->addMany($keys); },
    'serialize' => function ($f, $keys) { $g = unserialize(serialize($f)); $g->addMany($keys); },
];
set_error_handler(function ($l, $t) { echo "WARN $t\n"; return true; });
foreach ([['BloomFilter', []], ['BloomFilter', ['scheme' => 'block']], ['BloomFilter', ['scheme' => 'classic']], ['BloomFilter', ['grow' => 2.0]], ['CountingBloomFilter', []]] as [$class, $more])
foreach ($calls as $name => $call) {
    $f = new $class(...(['n' => 1000, 'p' => 0.01, 'overfull' => 'raise'] + $more));
    try { $call($f, urls(4000)); echo "$class $name: no exception\n"; }
    catch (Throwable $e) { echo "$class ", json_encode($more), " $name ", get_class($e), ' ', $e->getCode(), ' ', $e->getMessage(), ' ', var_export($e->index ?? null, true), "\n"; }
    $in = 0; $keys = urls(4000);
    while ($in < 4000 && $f->exists($keys[$in])) $in++;
    echo $in, ' ', md5($f->toBytes()), ' ', $f->count(), "\n";
    foreach ([fn() => $f->add('x'), fn() => (clone $f)->add('x'), fn() => $f->addMany([]), fn() => $f->addMany([1]), fn() => $f->addKey($keys[0])] as $c)
        try { var_dump($c()); } catch (Throwable $e) { echo $e->getMessage(), "\n"; }
    $f->clear(); var_dump($f->add('x'));
}
