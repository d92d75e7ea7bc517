<?php
// What test_resp_clients.py expects, by Predis and by phpredis.  The arguments are the port and the client.
[, $port, $which] = $argv;
if ($which === 'predis') {
    require 'Predis/Autoloader.php';
    Predis\Autoloader::register();
    $client = new Predis\Client("tcp://127.0.0.1:$port", ['exceptions' => false]);
    $ask = fn(string ...$words) => $client->executeRaw($words);
} else {
    $client = new Redis();
    $client->connect('127.0.0.1', (int)$port);
    $ask = function (string ...$words) use ($client) {
        $reply = $client->rawCommand(...$words);
        return $reply === true ? 'OK' : ($reply === false ? $client->getLastError() : $reply);
    };
}
$told = [
    $ask('BF.RESERVE', 'users', '0.001', '1000'),
    $ask('BF.ADD', 'users', 'a'),
    $ask('BF.ADD', 'users', 'a'),
    $ask('BF.MADD', 'users', 'b', 'c', 'a'),
    $ask('BF.EXISTS', 'users', 'z'),
    $ask('BF.CARD', 'users'),
];
if ($which === 'predis') {
    $many = $client->pipeline(function ($pipe) {
        for ($i = 0; $i < 500; $i++) $pipe->executeCommand(Predis\Command\RawCommand::create('BF.ADD', 'pipe', (string)$i));
    });
} else {
    $pipe = $client->multi(Redis::PIPELINE);
    for ($i = 0; $i < 500; $i++) $pipe->rawCommand('BF.ADD', 'pipe', (string)$i);
    $many = $pipe->exec();
}
$told[] = (int)(array_sum($many) >= 490);
$told[] = $ask('BF.INFO', 'none');
$ask('DEL', 'users', 'pipe');
echo json_encode($told), "\n";
