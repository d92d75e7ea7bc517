--TEST--
PHP code that runs while Predis waits for a reply, and uses another filter on the same connection, gets an exception; no key is reported absent
--FILE--
<?php require __DIR__ . '/redis.inc';
register_shutdown_function(function () use (&$g) {
    same([true, true], $g->existMany(['a', 'b']));
    echo "done\n";
});
$server = new RedisServer;
require_once '/usr/share/php/Predis/autoload.php';
/* A connection that runs PHP code between a command and its reply, as a signal handler or a destructor does. */
class Waiting extends Predis\Connection\StreamConnection
{
    public static ?Closure $do = null;
    public function read()
    {
        if ($do = self::$do) {
            self::$do = null;
            $do();
        }
        return parent::read();
    }
}
$client = new Predis\Client("tcp://127.0.0.1:$server->port", ['connections' => ['tcp' => Waiting::class]]);
$f = new BloomFilter(n: 1000, p: 0.01, storage: $client, key: 'f');
$g = BloomFilter::open(new Predis\Client($client->getConnection()), key: 'f');
$own = BloomFilter::open(new Predis\Client("tcp://127.0.0.1:$server->port"), key: 'f');
$f->addMany(['a', 'b']);
$said = [];
$inside = ['exists' => fn() => $g->exists('a'), 'add' => fn() => $g->add('c'), 'existMany' => fn() => $g->existMany(['a', 'b']), 'open' => fn() => BloomFilter::open($client, key: 'f')];
foreach ($inside as $name => $call) {
    $do = function () use ($call, $own, &$said) {
        same(true, $own->exists('a'), 'a connection of its own');
        try { $call(); $said[] = 'nothing'; } catch (BloomFilterException $e) { $said[] = [$e->getCode(), $e->getMessage()]; }
    };
    foreach ([fn() => $f->existMany(['b', 'x']), fn() => [$f->exists('b'), $f->exists('x')]] as $outer) {
        Waiting::$do = $do;
        same([true, false], $outer(), $name);
    }
}
same(8, count($said));
foreach ($said as [$code, $text]) same([BloomFilterException::IO, true], [$code, str_contains($text, 'the client is still waiting for another reply: try again')], $text);
same([true, true, false], $g->existMany(['a', 'b', 'c']), 'afterwards');

/* exit() during a round trip: the replies that nobody read are not those of the next commands. */
Waiting::$do = fn() => exit();
$f->exists('x');
--EXPECT--
done
