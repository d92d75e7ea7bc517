--TEST--
A Fiber that waits in a clock: others are refused meanwhile; it goes on, or ends, and the filter is free
--FILE--
<?php require __DIR__ . '/helpers.inc';
$waits = false;
$clock = function () use (&$waits) {
    if ($waits && Fiber::getCurrent()) { $waits = false; Fiber::suspend(); }
    return 1e9;
};
$f = new BloomFilter(n: 1000, p: 0.01, window: 60, clock: $clock);
$f->add('a');
$ask = fn() => $f->exists('a');
for ($round = 0; $round < 3; $round++) {
    $waits = true;
    $one = new Fiber($ask);
    $one->start();
    refused('BloomFilterException', 'in use', fn() => $f->exists('a'));
    refused('BloomFilterException', 'in use', fn() => $f->close());
    $two = new Fiber(fn() => refused('BloomFilterException', 'in use', $ask));
    $two->start();
    same(true, $two->isTerminated());
    if ($round === 0) { $one->resume(); same(true, $one->getReturn()); }
    if ($round === 1) { try { $one->throw(new DomainException('thrown in')); } catch (DomainException $e) { same('thrown in', $e->getMessage()); } }
    $one = null;                                             // never resumed
    same(true, $f->exists('a'), "round $round");
}

/* Two filters, two Fibers, and they end in the order in which they began. */
$g = new BloomFilter(n: 1000, p: 0.01, window: 60, clock: $clock);
$g->add('a');
$waits = true; $one = new Fiber($ask); $one->start();
$waits = true; $two = new Fiber(fn() => $g->exists('a')); $two->start();
$one->resume();
same([true, true], [$one->getReturn(), $f->exists('a')]);
refused('BloomFilterException', 'in use', fn() => $g->exists('a'));
refused('BloomFilterException', 'in use', fn() => $f->merge($g));
$two->resume();
same([true, true], [$two->getReturn(), $g->exists('a')]);
$f->close();

/* One that waits at the end of the script, or when it dies of a fatal error. */
$text = '$f = new BloomFilter(n: 1000, p: 0.01, window: 60, clock: function () { if (Fiber::getCurrent()) Fiber::suspend(); return 1e9; });'
      . '$one = new Fiber(fn() => $f->add("a")); $one->start(); register_shutdown_function(function () { echo "shut"; });';
same('shut', in_other_php($text));
same('shut', in_other_php("$text exit(3);"));
same(true, str_ends_with(in_other_php($text . ' ini_set("memory_limit", "4M"); str_repeat("x", 1 << 23);', '-d display_errors=0 -d log_errors=0'), 'shut'));
--EXPECT--
