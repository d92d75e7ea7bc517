--TEST--
An error handler that closes, clears, copies or merges the filter that warns
--FILE--
<?php require __DIR__ . '/helpers.inc';
function f(): BloomFilter { return $GLOBALS['f']; }
$f = $g = null;
$ways = ['close' => fn() => f()->close(), 'clear' => fn() => f()->clear(), 'clone' => fn() => clone f(), 'merge' => fn() => f()->merge($GLOBALS['g']), 'ask' => fn() => f()->exists('a'),
    'add' => fn() => f()->addMany(urls(100, 'more')), 'throw' => fn() => throw new DomainException('stop'), 'construct' => fn() => f()->__construct(10, 1), 'drop' => function () use (&$f) { $f = null; }];
$calls = ['addMany' => fn($f) => $f->addMany(urls(500)), 'add' => function ($f) { foreach (urls(500) as $url) $f->add($url); }, 'addNew' => fn($f) => $f->addNew(urls(500)),
    'merge' => function ($f) use (&$g) { $f->merge($g); }, 'generator' => fn($f) => $f->addMany((fn() => yield from urls(500))())];
foreach ($ways as $way => $handler) {
    foreach ($calls as $name => $call) {
        $f = new BloomFilter(1000, 10);
        $g = new BloomFilter(1000, 10);
        foreach (urls(500, 'g') as $url) @$g->add($url);
        $f->addMany(urls(500, 'first'));                     // the next call that adds warns
        $warned = 0;
        set_error_handler(function () use (&$warned, $handler) { if ($warned++ === 0) $handler(); return true; });
        try { $call($f); } catch (DomainException | BloomFilterException | Error $e) {}
        restore_error_handler();
        same(true, $warned > 0, "$way $name");
        if ($way === 'close') refused('BloomFilterException', 'closed', fn() => $f->add('x'));
    }
}
--EXPECT--
