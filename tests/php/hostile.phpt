--TEST--
Clients, clocks, hash functions, iterators, streams and error handlers that do what they should not (hostile.inc); longer under sanitizers
--FILE--
<?php require __DIR__ . '/hostile.inc';
error_reporting(E_ERROR);                        # PHP has no handler while the handler runs
stream_wrapper_register('hostile', 'Stream');
$server = new RedisServer;
set_error_handler(function () { World::act('warning'); return true; });
$longer = getenv('BLOOMFILTER_SANITIZED') ? 10 : 1;
for ($seed = 1; $seed <= 60 * $longer; $seed++) {
    World::$clients = [];
    if ($seed % 2 === 0) for ($i = 0; $i < 2; $i++) client($server->port);
    hostile($seed, 200);
}
echo World::$calls > 1000 ? "done\n" : World::$calls;
--EXPECT--
done
