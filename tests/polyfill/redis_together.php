<?php
/* redis_together.php - one half of a pair, with the extension or the polyfill, with phpredis or Predis; or a filter in memory, which answers as they do.
 * A line of JSON in: key, class, arguments or null to open, method, its arguments; a line out: the answer. */
require '/usr/share/php/Predis/autoload.php';
[, $kind, $port] = $argv;
$client = match ($kind) {
    'memory' => null,
    'predis' => new Predis\Client("tcp://127.0.0.1:$port"),
    'phpredis' => new Redis,
};
if ($kind === 'phpredis') $client->connect('127.0.0.1', (int) $port);

$filters = [];
while (($line = fgets(STDIN)) !== false) {
    [$key, $class, $how, $method, $arguments] = json_decode($line, true);
    try {
        $filters[$key] ??= $how === null ? $class::open($client, key: $key) : new $class(...$how, ...($client ? ['storage' => $client, 'key' => $key] : []));
        $said = $filters[$key]->$method(...$arguments);
        if ($method === 'toBytes') $said = md5($said);
    } catch (Throwable $e) {
        $said = [get_class($e), $e->getCode(), $e->getMessage()];
    }
    echo json_encode($said), "\n";
}
