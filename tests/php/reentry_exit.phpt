--TEST--
exit() and fatal errors in PHP code inside a call, and a Fiber that never comes back: the script ends, nobody waits for ever, and what runs at its end can use the filter
--SKIPIF--
<?php if (!extension_loaded('redis')) die('skip phpredis is not loaded');
--FILE--
<?php require __DIR__ . '/reentry.inc';
$server = new RedisServer;
$begin = 'require ' . var_export(__DIR__ . '/reentry.inc', true) . ';
class T { function __toString(): string { Inside::run(); return "t"; } }
[$make, $plain] = inside("PLACE", ' . $server->port . ');
[$f, $g, $late] = [$make(), $plain(), false];
$f->add("a"); $g->add("b");
register_shutdown_function(function () { global $f, $g; Inside::$do = null; echo "shut:", (int)$f->exists("a"), (int)$f->existMany(["a", "no"])[0], (int)$g->exists("b"), (int)$f->add("z"); $f->close(); });
Inside::$do = WAY; CALL; echo "went on";';
$ways = ['function () { exit; }' => '', 'function () { ini_set("memory_limit", "4M"); str_repeat("x", 1 << 23); }' => 'Allowed memory', 'function () { trigger_error("fatal", E_USER_ERROR); }' => 'fatal'];
$calls = ['$f->add("x")', '$f->addMany(range(1, 200))', '$f->existMany(["a", new T])', '$f->exists("a")', '$x = new Fiber(fn() => $f->add("x")); $x->start()'];
$whole = ['$f->merge($g)', '$g->equals($f)', '$f->count()'];
$places = ['clock' => [...$calls, ...$whole, '$f->union($g)', '$f->hashcode("x")', '$f->info()'], 'hashes' => [...$calls, '$f->hashcode("x")', '$f->addMany((function () { yield "x"; Inside::run(); })())'],
    'phpredis' => [...$calls, ...$whole, 'clone $f', '$f->bitset', 'new BloomFilter(n: 100, p: 0.01, storage: phpredis(' . $server->port . '), key: "g")'], 'Predis' => [...$calls, ...$whole, 'clone $f'],
    'connection' => ['$f->exists("x")', '$f->existMany(["a"])', '$f->add("x")']];
foreach ($places as $place => $calls)
    foreach ($calls as $i => $call)
        foreach ($ways as $way => $says) {
            if ($i && $place !== 'clock' && $says !== '') continue;           # how it ends is one thing, where another
            $text = in_other_php(str_replace(['PLACE', 'WAY', 'CALL'], [$place, $way, $call], $begin), '-d display_errors=1 -d html_errors=0 -d error_reporting=-1');
            same(true, str_ends_with($text, 'shut:1111') && str_contains($text, $says) && !str_contains($text, 'went on') && !str_contains($text, 'of the subclass'), "$place, $call $way: $text");
        }

/* One that waits at the end of the script, or when it dies of a fatal error. */
$waits = str_replace(['PLACE', 'WAY', 'CALL; echo "went on";'], ['clock', 'fn() => Fiber::suspend()', '$one = new Fiber(fn() => $f->add("a")); $one->start();'], $begin);
$waits = str_replace('Inside::$do = null; echo "shut:", (int)$f->exists("a"), (int)$f->existMany(["a", "no"])[0], (int)$g->exists("b"), (int)$f->add("z"); $f->close();', 'echo "shut";', $waits);
foreach (['', 'exit(3);', 'ini_set("memory_limit", "4M"); str_repeat("x", 1 << 23);'] as $end)
    same(true, str_ends_with(in_other_php("$waits $end", '-d display_errors=0 -d log_errors=0'), 'shut'), $end);
--EXPECT--
