--TEST--
Fibers, exit() and fatal errors inside a subclass of phpredis or Predis: nobody waits for ever, and the filter and its client can be used after that
--SKIPIF--
<?php if (!extension_loaded('redis')) die('skip phpredis is not loaded');
--FILE--
<?php require __DIR__ . '/redis.inc';
$server = new RedisServer;
$class = 'class R extends Redis {
    public static $do = null;
    private static function run(): void { if ($do = self::$do) { self::$do = null; $do(); } }
    public function rawCommand($c, ...$a): mixed { self::run(); return parent::rawCommand($c, ...$a); }
    public function exec(): Redis|array|false { self::run(); return parent::exec(); }
    public function close(): bool { if (self::$do) echo "close() of mine\n"; return parent::close(); }
}';
$predis = 'require_once "/usr/share/php/Predis/autoload.php";
class P extends Predis\Client {
    private static function run(): void { if ($do = R::$do) { R::$do = null; $do(); } }
    public function getConnection() { self::run(); return parent::getConnection(); }
    public function disconnect() { if (R::$do) echo "disconnect() of mine\n"; return parent::disconnect(); }
    public function getMode(): int { return Redis::ATOMIC; }
}';
eval("$class $predis");
$r = new R;
$r->connect('127.0.0.1', $server->port, 5);
foreach ([$r, new P("tcp://127.0.0.1:$server->port")] as $r) {
    $f = new BloomFilter(n: 10000, p: 0.01, storage: $r, key: 'f');
    $f->add('a');
    $calls = ['exists' => fn() => $f->exists('a'), 'add' => fn() => $f->add('b'), 'count' => fn() => count($f), 'many' => fn() => $f->existMany(urls(200)), 'addMany' => fn() => $f->addMany(urls(200)),
        'clone' => fn() => (clone $f)->exists('a'), 'bitset' => fn() => strlen($f->bitset), 'merge' => fn() => $f->merge($f), 'clear' => fn() => $f->expire(null)];
    foreach ($calls as $name => $call) {
        foreach (['resume', 'destroy', 'throw'] as $end) {
            R::$do = fn() => Fiber::suspend();
            $one = new Fiber($call);
            $one->start();
            same(true, $one->isSuspended(), $name);
            refused('BloomFilterException', 'in use', fn() => $f->exists('a'));
            refused('BloomFilterException', 'in use', fn() => $f->close());
            refused('BloomFilterException', 'in use', fn() => clone $f);
            $two = new Fiber(fn() => refused('BloomFilterException', 'in use', $call));
            $two->start();
            if ($end === 'resume') $one->resume();
            if ($end === 'throw') try { $one->throw(new DomainException('thrown in')); } catch (DomainException | BloomFilterException) {}
            $one = null;
            same(true, $f->exists('a'), "$name $end");
            same(Redis::ATOMIC, $r->getMode(), "$name $end");
            same(0, count(array_filter($f->existMany(['a']), fn($x) => !$x)), "$name $end");
        }
    }
}

/* The end of the script. */
foreach (["\$r = new R; \$r->connect('127.0.0.1', $server->port, 5);", "\$r = new P('tcp://127.0.0.1:$server->port');"] as $make) {
$begin = "$class $predis $make" . '$f = new BloomFilter(n: 10000, p: 0.01, storage: $r, key: "f"); $f->add("a");
register_shutdown_function(function () { global $f, $r; R::$do = null; echo "shut:", (int)$f->exists("a"), (int)$f->existMany(["a", "no"])[0], $r->getMode(); $f->close(); }); R::$do = ';
foreach (['function () { exit; };' => '', 'function () { ini_set("memory_limit", "4M"); str_repeat("x", 1 << 23); };' => 'Allowed memory',
          'function () { trigger_error("fatal", E_USER_ERROR); };' => 'fatal'] as $way => $says) {
    foreach (['$f->exists("a");', '$f->add("c");', '$f->existMany(range(1, 200));', 'clone $f;', '$f->bitset;', '$f->merge($f);', '$f->count();', 'new BloomFilter(n: 100, p: 0.01, storage: $r, key: "g");',
              '$x = new Fiber(fn() => $f->exists("a")); $x->start();'] as $call) {
        $text = in_other_php("$begin $way $call echo 'went on';", '-d display_errors=1 -d html_errors=0');
        same(true, str_ends_with($text, 'shut:110') && str_contains($text, $says) && !str_contains($text, 'went on') && !str_contains($text, 'of mine'), "$call $way: $text");
    }
}
}
--EXPECT--
