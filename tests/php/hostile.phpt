--TEST--
Clients, clocks, hash functions, iterators, streams and error handlers that do what they should not (hostile.inc); longer under sanitizers
--FILE--
<?php require __DIR__ . '/hostile.inc';
error_reporting(E_ERROR);                        # PHP has no handler while the handler runs
stream_wrapper_register('hostile', 'Stream');
$server = new RedisServer;
set_error_handler(function () { World::act('warning'); return true; });
$seeds = match (true) { !is_extension() => 12, (bool)getenv('BLOOMFILTER_SANITIZED') => 600, default => 60 };
for ($seed = 1; $seed <= $seeds; $seed++) {
    World::$clients = [];
    if ($seed % 2 === 0) for ($i = 0; $i < 2; $i++) client($server->port);
    hostile($seed, 200);
}
echo World::$calls > 1000 ? "done\n" : World::$calls;
--EXPECT--
done
