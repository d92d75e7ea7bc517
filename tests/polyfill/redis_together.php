<?php
/* redis_together.php - one half of a pair, with the extension or the polyfill, with phpredis or Predis.  A line of JSON in: [class, arguments or null to
 * open, operations]; a line out: what each operation answered. */
require '/usr/share/php/Predis/autoload.php';
[, $kind, $port] = $argv;
if ($kind === 'predis') $client = new Predis\Client("tcp://127.0.0.1:$port");
else ($client = new Redis)->connect('127.0.0.1', (int) $port);

$filters = [];
while (($line = fgets(STDIN)) !== false) {
    [$key, $class, $how, $operations] = json_decode($line, true);
    $said = [];
    try {
        $filters[$key] ??= $how === null ? $class::open($client, key: $key) : new $class(...$how, storage: $client, key: $key);
        foreach ($operations as [$method, $arguments]) {
            $answer = $filters[$key]->$method(...$arguments);
            $said[] = $method === 'toBytes' ? md5($answer) : $answer;
        }
        if (in_array('close', array_column($operations, 0), true)) unset($filters[$key]);
    } catch (Throwable $e) {
        $said[] = [get_class($e), $e->getCode(), $e->getMessage()];
    }
    echo json_encode($said), "\n";
}
