<?php
/* hostile_client.php KIND PORT SEED: a client object that throws anything at any place, calls the filter again, loses, repeats and exchanges replies. A key
 * whose add returned is never absent, and no other answer is wrong: they are right, or an exception. Prints how many answers and how many exceptions. */
require '/usr/share/php/Predis/autoload.php';
require __DIR__ . '/../../php-polyfill/autoload.php';
[, $kind, $port, $seed] = $argv;
mt_srand((int) $seed);
class Deadline extends Error {}
class Timeout extends Exception {}

final class Chaos
{
    public static bool $on = false;
    public static ?BloomFilter $filter = null;
    private static array $old = [];

    /** At a place where PHP code of a program may run. */
    public static function step(): void
    {
        if (!self::$on || mt_rand(0, 9)) return;
        switch (mt_rand(0, 4)) {
            case 0: throw new Deadline('now');
            case 1: throw new Timeout('now');
            case 2: throw new BloomFilterException('of another filter', -4);
            case 3: throw new TypeError('a bug');
            case 4:
                self::$on = false;
                try { self::$filter?->exists('within'); } catch (BloomFilterException) {}
                self::$on = true;
        }
    }

    public static function reply(mixed $reply): mixed
    {
        if (!self::$on || mt_rand(0, 9)) return self::$old[] = $reply;
        $number = is_array($reply) ? $reply[0] : 'none';
        return match (mt_rand(0, 9)) {
            0 => self::$old[array_rand(self::$old ?: [0])] ?? null,
            1 => false,
            2 => null,
            3 => [],
            4 => 'OK',
            5 => [$number],
            6 => [$number, 1, $reply[2] ?? [], 'other'],
            7 => ['other', 1, [0], $number],
            8 => [$number, 1],
            9 => 1,
        };
    }
}

class HostileRedis extends Redis
{
    public function rawCommand($command, mixed ...$arguments): mixed
    {
        Chaos::step();
        if (Chaos::$on && !mt_rand(0, 20)) parent::close();
        $reply = parent::rawCommand($command, ...$arguments);
        Chaos::step();
        return Chaos::reply($reply);
    }
}
if ($kind === 'predis') {
    class HostileConnection extends Predis\Connection\StreamConnection
    {
        public function writeRequest(Predis\Command\CommandInterface $command)
        {
            Chaos::step();
            if (Chaos::$on && !mt_rand(0, 20)) parent::writeRequest(Predis\Command\RawCommand::create('PING'));       # its reply is left
            if (Chaos::$on && !mt_rand(0, 20)) $this->disconnect();
            parent::writeRequest($command);
            Chaos::step();
        }
        public function readResponse(Predis\Command\CommandInterface $command)
        {
            Chaos::step();
            $reply = parent::readResponse($command);
            Chaos::step();
            return Chaos::reply($reply);
        }
    }
    $client = new Predis\Client("tcp://127.0.0.1:$port?read_write_timeout=60", ['connections' => ['tcp' => HostileConnection::class]]);
} else {
    $client = new HostileRedis;
    $client->connect('127.0.0.1', (int) $port, 60);
    $client->setOption(Redis::OPT_READ_TIMEOUT, 60);
    $client->setOption(Redis::OPT_PREFIX, 'mine:');
}

function wrong(string $what): never { echo "wrong: $what\n"; exit(1); }
$shapes = [['BloomFilter', ['n' => 2000, 'p' => 1e-9]], ['BloomFilter', ['n' => 2000, 'p' => 1e-9, 'scheme' => 'classic', 'shards' => 2]], ['CountingBloomFilter', ['n' => 2000, 'p' => 1e-9]],
    ['BloomFilter', ['n' => 60, 'p' => 1e-9, 'grow' => 2.0]]];
$answers = $thrown = 0;
foreach ($shapes as $i => [$class, $how]) {
    $f = Chaos::$filter = new $class(...$how, storage: $client, key: uniqid("hostile-$i-"));
    $in = $perhaps = [];
    for ($call = 0; $call < 300; $call++) {
        $keys = array_map(fn() => 'k' . mt_rand(0, 250), range(1, mt_rand(1, 20)));
        $adds = (bool) mt_rand(0, 1);
        Chaos::$on = true;
        try {
            if (count($keys) === 1) $said = [$adds ? $f->add($keys[0]) : $f->exists($keys[0])];
            elseif ($adds) {
                $new = $f->addNew($keys);
                $said = array_map(fn($j) => isset($new[$j]), array_keys($keys));
            } else $said = array_values($f->existMany($keys));
            Chaos::$on = false;
            foreach ($keys as $j => $key) {
                $answers++;
                if (!$adds && !$said[$j] && isset($in[$key])) wrong("$key is absent");
                if (!$adds && $said[$j] && !isset($in[$key]) && !isset($perhaps[$key])) wrong("$key is present");
                if ($adds && $said[$j] && isset($in[$key])) wrong("$key is new");
                if ($adds && !$said[$j] && !isset($in[$key]) && !isset($perhaps[$key])) wrong("$key was there");
                if ($adds) $in[$key] = true;
            }
        } catch (Throwable) {
            Chaos::$on = false;
            $thrown++;
            if ($adds) foreach ($keys as $key) $perhaps[$key] = true;
        }
    }
    for ($tries = 0; $tries < 3; $tries++)
        try {
            foreach (array_keys($in) as $key) if (!$f->exists((string) $key)) wrong("$key is absent at the end");
            if ($f->exists('never')) wrong('never');
            break;
        } catch (BloomFilterException $e) {
            if ($tries) wrong('does not recover: ' . $e->getMessage());
        }
}
if ($kind !== 'predis') {
    if ([$client->getMode(), $client->getOption(Redis::OPT_PREFIX)] !== [Redis::ATOMIC, 'mine:']) wrong('the state of the client');
    if ([$client->set('own', 'value'), $client->get('own')] !== [true, 'value']) wrong("the program's own commands");
}
echo json_encode([$answers, $thrown]), "\n";
