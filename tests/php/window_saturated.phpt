--TEST--
A filter that forgets warns, and says saturated(), where a window has many more keys than it is sized for
--FILE--
<?php require __DIR__ . '/helpers.inc';
$warnings = [];
set_error_handler(function ($level, $text) use (&$warnings) { $warnings[] = $text; return true; });
$now = 1e9;
$f = new BloomFilter(n: 1000, p: 0.01, window: 60, clock: function () use (&$now) { return $now; });
for ($i = 0; $i < 5; $i++, $now += 15) $f->addMany(range(0, 999));
same([[], false, false], [$warnings, $f->saturated(), $f->info()['saturated']]);
$f->addMany(range(1000, 49999));
$f->addMany([]); # the next call that adds warns
same([1, true, true, true], [count($warnings), str_contains($warnings[0], 'n=1000'), $f->saturated(), $f->info()['saturated']]);
--EXPECT--
