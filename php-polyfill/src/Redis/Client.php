<?php
namespace Bloomfilter\Polyfill\Redis;

use Bloomfilter\Polyfill\Fault;

/** Sends commands through the program's own phpredis or Predis object.  Knows their methods; knows nothing of filters. */
final class Client
{
    /** A cluster's commands of one key go as the arguments of one script: not every client's cluster takes them all. */
    private const EACH = "local r,i={},1 while i<=#ARGV do local n=tonumber(ARGV[i]) local v=redis.pcall(unpack(ARGV,i+1,i+n)) "
        . "if type(v)=='table' and v.err then v={'\\0error',v.err} end r[#r+1]=v i=i+n+1 end return r";

    public bool $cluster;
    public string $prefix = '';
    private string $name;
    private bool $predis;
    private int $process;
    /** phpredis before 6.3 forgets its map of slots with a node, and its next command would crash. */
    private bool $broken = false;
    /** @var array<int, \WeakReference> by number of Predis's connection: the round trip that uses it; without an object: one that exit() ended */
    private static array $talking = [];

    public function __construct(private object $client)
    {
        $this->process = (int) getmypid();
        $this->predis = $client instanceof \Predis\ClientInterface;
        $this->cluster = $this->predis ? !$client->getConnection() instanceof \Predis\Connection\NodeConnectionInterface
            && !str_contains(get_class($client->getConnection()), 'Replication') : $client instanceof \RedisCluster;
        try {
            $prefix = $this->predis ? $client->getOptions()->prefix : $client->getOption(\Redis::OPT_PREFIX);
            $this->prefix = (string) (is_object($prefix) ? $prefix->getPrefix() : $prefix);
            $host = match (true) {
                $this->cluster => '',
                $this->predis => $client->getConnection() instanceof \Predis\Connection\NodeConnectionInterface ? (string) $client->getConnection() : 'a master',
                default => (string) $client->getHost(),
            };
            $port = $this->cluster || $this->predis || str_starts_with($host, '/') ? '' : ':' . $client->getPort();
        } catch (\RedisException) {              // it was never connected: the first command will say so
        }
        $this->name = $this->cluster ? 'a cluster' : substr($host ?? '', 0, $this->predis ? 33 : 26) . ($port ?? ':0');
    }

    public static function takes(object $o): bool
    {
        return $o instanceof \Redis || $o instanceof \RedisCluster || $o instanceof \Predis\ClientInterface;
    }

    public function label(string $key): string
    {
        $shown = sprintf('Redis key %.30s%s at %.33s', $key, strlen($key) > 30 ? '..' : '', $this->name);
        return preg_replace('/[\x00-\x1f\x7f]/', '?', $shown);
    }

    /**
     * One round trip; a command that fails has a Refusal as its reply.  $done: what it does to keys, '' for other changes; null: it only reads, and may be sent
     * once more.
     * @param list<array{string, list<int|string>}> $commands each with the key that it is about
     */
    public function run(array $commands, ?string $done, string $label): array
    {
        if (!$this->predis) return $this->exchange($commands, $done, $label);
        // PHP code may run while Predis waits: a signal handler, a destructor, another Fiber.  It would read the replies of this round trip.
        $number = spl_object_id($connection = $this->client->getConnection());
        if ((self::$talking[$number] ?? null)?->get())
            throw Fault::fail(\BloomFilterException::IO, '%s: the client waits for another reply: call again after that', $label);
        $unfinished = isset(self::$talking[$number]);
        self::$talking[$number] = \WeakReference::create($trip = new \stdClass);
        try {
            if ($unfinished) $this->reset();
            return $this->exchange($commands, $done, $label);
        } finally {
            unset(self::$talking[$number]);
        }
    }

    private function exchange(array $commands, ?string $done, string $label): array
    {
        for ($tries = 1;; $tries++) {
            $start = microtime(true);
            if ($this->process !== getmypid()) $this->leaveParent();
            if ($this->broken) throw Fault::fail(\BloomFilterException::IO, '%s: a node was lost, phpredis before 6.3 crashes now: create a new object', $label);
            try {
                return $this->cluster ? $this->perKey($commands) : $this->send(array_column($commands, 1));
            } catch (\Exception $e) {
                $text = $e->getMessage();
                $this->broken = $this->cluster && !$this->predis && version_compare((string) phpversion('redis'), '6.3', '<');
                $own = $e instanceof \RedisException || $e instanceof \RedisClusterException || $e instanceof \Predis\PredisException;
                if ($e instanceof \Predis\Response\ServerException || ($own && preg_match('/^[A-Z]{2,} |\(CLUSTERDOWN\)/', $text)))
                    return array_fill(0, count($commands), new Refusal($text));
                $errno = $own || $e instanceof Cut ? $this->errno($text, microtime(true) - $start) : '';
                $busy = $e instanceof \BloomFilterException;
                if (!$busy) $this->reset();
                if ($busy || $tries > 1 || $done !== null || $errno === 'Connection timed out' || $errno === 'Connection refused')
                    throw $this->lost($e, $errno, $busy ? '' : (string) $done, $label);
            }
        }
    }

    /** The clients do not tell a time-out from a reset, but the time taken does. */
    private function errno(string $text, float $took): string
    {
        $limit = match (true) {
            $this->cluster => INF,
            $this->predis => (float) $this->connection()->getParameters()->read_write_timeout,
            default => $this->client->getReadTimeout(),
        } ?: (float) ini_get('default_socket_timeout');
        return match (true) {
            $took >= $limit => 'Connection timed out',
            (bool) preg_match('/onnection refused|communicate with any node/', $text) => 'Connection refused',
            stripos($text, 'timed out') !== false => 'Connection timed out',
            $text === '' || $this->cluster || preg_match('/getaddrinfo|protocol/', $text) => '',
            default => 'Connection reset by peer',
        };
    }

    private function lost(\Exception $e, string $errno, string $done, string $label): \BloomFilterException
    {
        $what = match (true) {
            $errno === '' => ($done ? "cannot tell what was $done: " : '') . "$label: " . ($e->getMessage() ?: 'the client failed'),
            $errno === 'Connection refused' => "cannot reach $label: $errno",
            default => ($done ? "cannot tell what was $done: no reply from $label: " : "cannot get a reply from $label: ") . $errno,
        };
        return new \BloomFilterException(substr($what, 0, 159), \BloomFilterException::IO, $e);
    }

    /** A child of fork makes a connection of its own: both would read each other's replies. */
    private function leaveParent(): void
    {
        $this->process = (int) getmypid();
        $this->reset();
    }

    /** A connection after a fault may be out of step. */
    public function reset(): void
    {
        try {
            if ($this->predis) $this->client->disconnect();
            else {
                if (!$this->cluster && $this->client->getMode() > 0) $this->client->discard();
                $this->client->close();
            }
        } catch (\Exception) {
        }
    }

    /** @param list<list<int|string>> $commands */
    private function send(array $commands): array
    {
        if (!$this->predis) return $this->sendByPhpredis($commands);
        $raw = array_map(fn(array $command) => \Predis\Command\RawCommand::create(...array_map(strval(...), $command)), $commands);
        $connection = $this->connection();
        $this->closeStale($connection, $raw[0]);
        if (count($raw) === 1) return [$this->reply($connection->executeCommand($raw[0]))];
        foreach ($raw as $command) $connection->writeRequest($command);
        return array_map($this->reply(...), array_map($connection->readResponse(...), $raw));
    }

    /** Bytes before the command would be read as its reply: of a call of Predis that PHP code (a signal handler that throws) has ended before its reply came. */
    private function closeStale(\Predis\Connection\ConnectionInterface $node, \Predis\Command\CommandInterface $command): void
    {
        if (!$node instanceof \Predis\Connection\NodeConnectionInterface)
            $node = method_exists($node, 'getConnectionByCommand') ? $node->getConnectionByCommand($command) : $node->getConnection($command);
        if (!$node->isConnected()) return;
        $stream = $node->getResource();
        if (is_object($stream) && property_exists($stream, 'stream'))
            $stream = (fn() => $this->stream)->call($stream);       // Predis 3
        if (!is_resource($stream)) return;
        [$read, $none] = [[$stream], null];
        if (stream_get_meta_data($stream)['unread_bytes'] > 0 || stream_select($read, $none, $none, 0)) $node->disconnect();
    }

    /** Predis's connection, not its client, gets the commands: an error reply is then a reply.  A replica may lack the last adds. */
    private function connection(): \Predis\Connection\ConnectionInterface
    {
        $connection = $this->client->getConnection();
        return !$this->cluster && !$connection instanceof \Predis\Connection\NodeConnectionInterface ? $connection->getMaster() : $connection;
    }

    private function sendByPhpredis(array $commands): array
    {
        $r = $this->client;
        if ($r->getMode() !== \Redis::ATOMIC)
            throw new \BloomFilterException('the Redis object is in a pipeline or transaction: end it first', \BloomFilterException::IO);
        $r->clearLastError();
        if (count($commands) === 1) return [$this->reply($r->rawCommand(...$commands[0]))];
        $r->pipeline();
        foreach ($commands as $command) $r->rawCommand(...$command);
        $replies = $r->exec();
        if (!is_array($replies) || count($replies) !== count($commands)) throw new Cut('the connection was lost between the replies');
        return array_map($this->reply(...), $replies);
    }

    private function reply(mixed $reply): mixed
    {
        if ($reply instanceof \Predis\Response\ErrorInterface) return new Refusal($reply->getMessage());
        if ($reply instanceof \Predis\Response\Status)
            return (string) $reply === 'QUEUED' ? new Refusal('the Redis object is in a pipeline or transaction: end it first') : (string) $reply;
        if ($reply !== false) return $reply;
        $error = $this->predis ? null : $this->client->getLastError();
        return $error ? new Refusal($error) : null;
    }

    private function perKey(array $commands): array
    {
        $replies = [];
        for ($i = 0; $i < count($commands); $i += count($some)) {
            [$key, $first] = $commands[$i];
            $some = [];
            for ($j = $i; $j < count($commands) && $commands[$j][0] === $key && ($commands[$j][1][0] !== 'EVAL' || $j === $i); $j++) {
                $some[] = $commands[$j][1];
                if ($first[0] === 'EVAL') break;
            }
            if ($first[0] === 'EVAL') {
                $replies[] = $this->eval($first[1], array_slice($first, 3), (int) $first[2]);
                continue;
            }
            $arguments = [];
            foreach ($some as $command) array_push($arguments, count($command), ...$command);
            // while a slot moves, Redis looks for declared keys only: it would run the script where another key is missing
            $keys = array_values(array_unique(array_map(fn($command) => $command[1] ?? $key, $some)));
            $answer = $this->eval(self::EACH, [...$keys, ...$arguments], count($keys));
            foreach ($answer instanceof Refusal ? array_fill(0, count($some), $answer) : $answer as $one)
                $replies[] = is_array($one) && ($one[0] ?? '') === "\0error" ? new Refusal($one[1]) : $one;
        }
        return $replies;
    }

    /** phpredis would prepend its prefix to keys that have it. */
    private function eval(string $script, array $arguments, int $keys): mixed
    {
        if ($this->predis) return $this->send([['EVAL', $script, $keys, ...$arguments]])[0];
        $this->client->clearLastError();
        $prefix = (string) $this->client->getOption(\Redis::OPT_PREFIX);     // of now: the program may have changed it
        $this->client->setOption(\Redis::OPT_PREFIX, '');
        try {
            return $this->reply($this->client->eval($script, array_map(strval(...), $arguments), $keys));
        } finally {
            $this->client->setOption(\Redis::OPT_PREFIX, $prefix);
        }
    }
}
