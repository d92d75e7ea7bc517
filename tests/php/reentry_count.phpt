--TEST--
count($filter) on a variable, which PHP does not hold for the call: a client or a clock drops it meanwhile
--SKIPIF--
<?php if (!extension_loaded('redis')) die('skip phpredis is not loaded');
--FILE--
<?php require __DIR__ . '/redis.inc';
$server = new RedisServer;
class R extends Redis
{
    public static $do = null;
    private function run(): void { if ($do = self::$do) { self::$do = null; $do(); } }
    public function rawCommand($c, ...$a): mixed { $this->run(); return parent::rawCommand($c, ...$a); }
    public function exec(): Redis|array|false { $this->run(); return parent::exec(); }
}
function client(RedisServer $server): R { $r = new R; $r->connect('127.0.0.1', $server->port, 5); return $r; }
class Clock
{
    public static $do = null;
    public function __invoke() { if ($do = self::$do) { self::$do = null; $do(); } return 1000.0; }
}
/* What is freed is written over: else nobody would notice. */
function drop(): void { $GLOBALS['f'] = null; $GLOBALS['over'] = array_map(fn($i) => str_repeat(chr($i), 8 + 8 * ($i % 32)), range(0, 255)); }

for ($i = 0; $i < 3; $i++) {
    $f = new BloomFilter(n: 1000, p: 0.01, storage: client($server), key: "f$i");
    $f->addMany(['a', 'b']);
    R::$do = drop(...);
    same(2, count($f), 'client');
    same(null, $f);

    $f = new BloomFilter(n: 1000, p: 0.01, window: 60, clock: new Clock);
    $f->addMany(['a', 'b']);
    Clock::$do = drop(...);
    same(2, count($f), 'clock');
    same(null, $f);
}
--EXPECT--
