--TEST--
A reply to another command is never read as that of a filter: a test is sent again on a new connection, an add is an exception
--SKIPIF--
<?php if (!extension_loaded('redis')) die('skip phpredis is not loaded');
--FILE--
<?php require __DIR__ . '/redis.inc';
$server = new RedisServer;
$connect = clients($server->port);
$client = $connect['Predis']();
[$f, $g] = array_map(fn() => new BloomFilter(n: 1000, p: 0.0001, storage: $client, key: 'seen'), [0, 1]);
$f->addMany($in = urls(100));
function right(BloomFilter $f, array $in): void
{
    foreach ($in as $i => $key) same([true, false], [$f->exists($key), $f->exists("out $i")], "key $i");
    same([true, false], $f->existMany([$in[0], 'out']));
}
right($f, $in);
# a call of the program ended before its reply came, as after an exception of a signal handler
$leave = fn(string ...$command) => $client->getConnection()->writeRequest(Predis\Command\RawCommand::create(...$command));
$stream = function () use ($client) {
    $resource = $client->getConnection()->getResource();
    return is_object($resource) ? (fn() => $this->stream)->call($resource) : $resource; # an object from Predis 3 on
};
$arrived = function () use ($stream) { $read = [$stream()]; stream_select($read, $none, $none, 5); };
foreach ([$f, $g] as $filter) {
    $leave('PING');
    $arrived();
    right($filter, $in);
    # the first of two replies was read, so the second one is usually in the buffer of the stream
    $leave('PING');
    $leave('ECHO', str_repeat('x', 100));
    $arrived();
    same('+PONG', rtrim(fgets($stream())));
    $arrived();
    right($filter, $in);
    # it looks like that of an add of a new key
    $client->del('one');
    $leave('INCR', 'one');
    $arrived();
    try { same(false, $filter->add($in[0])); } catch (BloomFilterException $e) { same(true, str_contains($e->getMessage(), 'out of step'), $e->getMessage()); }
    same(false, $filter->add($in[0]));
}
# it comes after the command was sent, alone or with its reply
$leave('BLPOP', 'none', '1');
try { same(true, $f->exists($in[0])); } catch (BloomFilterException $e) { same(1, preg_match('/unexpected reply|out of step/', $e->getMessage()), $e->getMessage()); }
right($g, $in);
right($f, $in);
--EXPECT--
