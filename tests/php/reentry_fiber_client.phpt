--TEST--
A Fiber that waits in a client's method or connection, and others that use the same client: the right answer or an exception, never a wrong answer, and nobody waits for ever
--SKIPIF--
<?php if (!extension_loaded('redis')) die('skip phpredis is not loaded');
--FILE--
<?php require __DIR__ . '/redis.inc';
$server = new RedisServer;
clients($server->port);
/* Waits before or after Redis has its command. */
class Waits
{
    public static string $at = '';
    public static function here(string $at): void
    {
        if (self::$at !== $at || !Fiber::getCurrent()) return;
        self::$at = '';
        Fiber::suspend();
    }
}
class R extends Redis
{
    public function rawCommand($command, ...$arguments): mixed { Waits::here('before'); $reply = parent::rawCommand($command, ...$arguments); Waits::here('after'); return $reply; }
    public function pipeline(): Redis|bool { Waits::here('before'); $r = parent::pipeline(); Waits::here('in a pipeline'); return $r; }
    public function exec(): Redis|array|false { $replies = parent::exec(); Waits::here('after'); return $replies; }
}
class P extends Predis\Client
{
    public function getConnection() { Waits::here('before'); return parent::getConnection(); }
}
/* The Fiber waits between the command and its reply, as coroutines of Swoole do. */
class C extends Predis\Connection\StreamConnection
{
    public function writeRequest(Predis\Command\CommandInterface $command) { parent::writeRequest($command); Waits::here('after'); }
    public function read() { Waits::here('before'); return parent::read(); }
}
$phpredis = function () use ($server): R { $r = new R; $r->connect('127.0.0.1', $server->port, 5); return $r; };
$predis = fn(string $class, array $options = []) => new $class("tcp://127.0.0.1:$server->port", $options);
$clients = ['phpredis' => $phpredis, 'Predis' => fn() => $predis('P'), 'connection' => fn() => $predis('Predis\Client', ['connections' => ['tcp' => C::class]])];
$in = urls(150);
$sure = $phpredis();
foreach ($clients as $kind => $connect) {
    $client = $connect();
    $sure->flushAll();
    $f = new BloomFilter(n: 10_000, p: 1e-9, storage: $client, key: 'f');
    $g = new BloomFilter(n: 10_000, p: 1e-9, storage: $client, key: 'g');      # the same connection
    $f->addMany($in);
    $g->addMany(['g', ...$in]);
    $calls = ['exists' => [fn() => $f->exists('a'), false], 'add' => [fn() => $f->add('new'), true], 'existMany' => [fn() => $f->existMany([...$in, 'a']), [...array_fill(0, 150, true), false]],
        'addMany' => [fn() => $f->addMany(['one', 'two']), 2], 'count' => [fn() => count($f), null], 'bitset' => [fn() => $f->bitset, null]];
    # what others do meanwhile
    $others = ['exists' => [fn() => $g->exists('g'), true], 'absent' => [fn() => $g->exists('none'), false], 'existMany' => [fn() => $g->existMany(['g', 'none']), [true, false]],
        'add' => [fn() => $g->add('g'), false], 'open' => [fn() => BloomFilter::open($client, key: 'g')->exists('g'), true], 'merge' => [fn() => $g->union($f)->exists('g'), true]];
    $answered = $refused = 0;
    foreach ($calls as $name => [$call, $right]) foreach (['before', 'in a pipeline', 'after'] as $at) foreach (['resume', 'throw', 'destroy'] as $end) {
        $sure->del('new');
        foreach (['new', 'one', 'two'] as $key) if ($f->exists($key)) { $f->rebuild($in); break; }
        Waits::$at = $at;
        $one = new Fiber($call);
        $one->start();
        Waits::$at = '';
        if ($one->isTerminated()) continue;                  # it does not come there
        foreach ($others as $other => [$do, $expected]) {
            foreach ([$do, fn() => (new Fiber(function () use ($do, &$answer) { $answer = $do(); }))->start() ?? $answer] as $do) {
                try { same($expected, $do(), "$kind, $name waits $at, $other"); $answered++; }
                catch (BloomFilterException $e) { same(true, in_array($e->getCode(), [BloomFilterException::IO, BloomFilterException::BUSY]), (string)$e); $refused++; }
            }
        }
        refused('BloomFilterException', 'in use', fn() => $f->exists('a'));
        $said = null;
        try {
            if ($end === 'resume') $one->resume();
            if ($end === 'throw') $one->throw(new DomainException('thrown in'));
            while (!$one->isTerminated() && $end !== 'destroy') $one->resume();
        } catch (DomainException | BloomFilterException $e) { $said = $e; }
        if ($end === 'resume' && $right !== null) same($right, $said ?? $one->getReturn(), "$kind, $name waits $at");
        $one = null;
        same([true, false, true, false], [$f->exists($in[0]), $f->exists('none'), ...$f->existMany([$in[1], 'none'])], "$kind, $name waits $at, $end");
        same([true, false, true, false], [$g->exists('g'), $g->exists('none'), ...$g->existMany(['g', 'none'])], "$kind, $name waits $at, $end");
        same('value', $client->set('k', 'value') ? $client->get('k') : null, "$kind, $name waits $at, $end");
    }
    # a connection that waits for a reply answers nobody
    same([$kind !== 'connection', true], [$answered > 0, $refused > 0], "$kind: $answered answered, $refused refused");
}
--EXPECT--
