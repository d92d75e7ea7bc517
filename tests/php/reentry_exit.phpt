--TEST--
exit() and fatal errors in a clock, a generator, __toString() and __clone(): the script ends, and what runs at its end can use the filter
--FILE--
<?php require __DIR__ . '/helpers.inc';
$begin = '$ends = null; class T { function __toString(): string { global $ends; $ends(); return "t"; } }
class C extends BloomFilter { function __clone() { global $ends; $ends(); } }
$f = new C(n: 1000, p: 0.01, window: 60, clock: function () { global $ends; if ($ends && !$GLOBALS["late"]) $ends(); return 1e9; });
$g = new C(n: 1000, p: 0.01, window: 60, clock: fn() => 1e9);
$f->add("a"); $g->add("b"); $late = false;
register_shutdown_function(function () { global $f, $g, $ends, $late; $late = true; echo "shut:", (int)$f->exists("a"), (int)$g->exists("b"), (int)$f->add("z"); $f->close(); });
$ends = WAY;';
$ways = ['function () { exit; }' => '', 'function () { ini_set("memory_limit", "4M"); str_repeat("x", 1 << 23); }' => 'Allowed memory',
         'function () { trigger_error("fatal", E_USER_ERROR); }' => 'fatal'];
foreach ($ways as $way => $says) {
    foreach (['$f->add("x");', '$f->addMany(["x", "y"]);', '$f->merge($g);', '$f->union($g);', '$g->equals($f);', '$f->equals($g);', 'clone $f;', '$f->hashcode("x");',
              '$f->info();', '$f->addMany((function () { yield "x"; global $ends; $ends(); })());', '$f->existMany(["a", new T]);', '$f->exists(new T);',
              '$x = new Fiber(fn() => $f->add("x")); $x->start();'] as $call) {
        $text = in_other_php(str_replace('WAY', $way, $begin) . $call . ' echo "went on";', '-d display_errors=1 -d html_errors=0 -d error_reporting=-1');
        same(true, str_ends_with($text, 'shut:111') && str_contains($text, $says) && !str_contains($text, 'went on'), "$call $way: $text");
    }
}
--EXPECT--
