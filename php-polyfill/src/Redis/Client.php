<?php
namespace Bloomfilter\Polyfill\Redis;

use Bloomfilter\Polyfill\Fault;

/**
 * The program's own phpredis or Predis object.  A round trip is one command, an EVAL, whose reply begins and ends with a number that only this call
 * knows.  Any other reply is that of another call, process or Fiber: it is never an answer, and the connection is closed.  Nothing else of the object
 * is used or changed.  Knows nothing of filters.
 */
final class Client
{
    /** Around each script: the number is the last argument, and errors are values. */
    private const ECHO = "local number=table.remove(ARGV) local ok,r=pcall(function() %s\nend) if type(r)=='table' and r.err then ok,r=false,r.err end "
        . "if not ok then r=tostring(r) end return {number,ok and 1 or 0,r==nil and false or r,number}";

    private const QUEUED = 'the Redis object is in a pipeline or transaction: end it first';

    public bool $cluster;
    public string $prefix = '';
    private string $name;
    private bool $predis;
    /** phpredis before 6.3 forgets its map of slots with a node, and its next command would crash. */
    private bool $broken = false;
    /** @var array<int, \WeakReference> by number of the connection: the round trip that uses it; without an object: one that exit() ended */
    private static array $talking = [];

    public function __construct(private object $client)
    {
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
     * What a script returns.  $done: what it does to keys, '' for other changes; null: it only reads, and may be sent once more.
     * @param list<string> $keys
     * @param list<int|string> $arguments
     */
    public function run(string $script, array $keys, array $arguments, ?string $done, string $label): mixed
    {
        // PHP code may run while the client waits: a signal handler, a destructor, another Fiber.
        $used = $this->predis ? $this->client->getConnection() : $this->client;
        $number = spl_object_id($used);
        if ($other = (self::$talking[$number] ?? null)?->get()) throw $other->of === $this
            ? Fault::fail(\BloomFilterException::BUSY, 'the filter is in use: a call in it waits for its clock, hash function or client, and this call was made by such code')
            : Fault::fail(\BloomFilterException::IO, '%s: the client is still waiting for another reply: try again', $label);
        if (isset(self::$talking[$number])) $this->close();
        self::$talking[$number] = \WeakReference::create($trip = (object) ['of' => $this]);
        try {
            $script = sprintf(self::ECHO, $script);
            return $this->exchange($script, $keys, $arguments, $done, $label);
        } finally {
            unset(self::$talking[$number]);
        }
    }

    /** Code that runs while the client waits must not close its filter. */
    public function checkIdle(): void
    {
        foreach (self::$talking as $trip) if ($trip->get()?->of === $this)
            throw Fault::fail(\BloomFilterException::BUSY, 'the filter is in use: it cannot be closed before the call that runs in it returns');
    }

    private function exchange(string $script, array $keys, array $arguments, ?string $done, string $label): mixed
    {
        for ($tries = 1;; $tries++) {
            if ($this->broken) throw Fault::fail(\BloomFilterException::IO, '%s: a node was lost, phpredis before 6.3 crashes now: create a new object', $label);
            if ($this->inPipeline()) throw self::refused(self::QUEUED, $label);
            $start = microtime(true);
            $number = bin2hex(random_bytes(8));
            $reply = $e = null;
            try {
                $reply = $this->send([$script, count($keys), ...$keys, ...$arguments, $number]);
            } catch (\Exception $e) {
            } finally {                                  // an Error leaves the round trip unfinished too
                $mine = is_array($reply) && count($reply) === 4 && $reply[0] === $number && $reply[3] === $number;
                if (!$mine && !$reply instanceof \stdClass) $this->close();
            }
            if ($mine) return $reply[1] === 1 ? ($reply[2] === false ? null : $reply[2]) : throw self::refused($reply[2], $label);
            $errno = $this->errno($e, microtime(true) - $start);
            $error = $reply->error ?? $this->error($e);
            if ($error !== null) throw self::refused($error, $label);
            if ($done !== null || $tries > 1 || $errno === 'Connection timed out' || $errno === 'Connection refused')
                throw self::lost($e ?? new \RuntimeException('unexpected reply'), $errno, (string) $done, $label);
        }
    }

    /** For what this connection has just written, as a script cannot WAIT. */
    public function wait(int $replicas, string $done, string $label): void
    {
        $got = $e = null;
        try {
            $got = $this->predis ? $this->connection()->executeCommand(\Predis\Command\RawCommand::create('WAIT', (string) $replicas, '1000'))
                : $this->client->rawCommand('WAIT', $replicas, 1000);
        } catch (\Exception $e) {
        } finally {
            if (!is_int($got)) $this->close();
        }
        if (!is_int($got)) throw self::lost($e ?? new \RuntimeException('unexpected reply'), $this->errno($e, 0), $done, $label);
        if ($got < $replicas)
            throw Fault::fail(\BloomFilterException::IO, '%s: %s, but only %d of waitReplicas=%d replicas had it in time', $label, $done, $got, $replicas);
    }

    private function inPipeline(): bool
    {
        try {
            return !$this->predis && !$this->cluster && $this->client->getMode() !== \Redis::ATOMIC;
        } catch (\RedisException) {             // it was never connected
            return false;
        }
    }

    /** The reply.  An error has no number: an object with its text.  If it is not ours, the next reply will not be either. */
    private function send(array $arguments): mixed
    {
        if ($this->predis) {
            // Predis's connection, not its client, gets the command: an error reply is then a reply.  A replica may lack the last adds.
            $arguments = array_map(strval(...), $arguments);
            $command = \Predis\Command\RawCommand::create('EVAL', ...$arguments);
            $reply = $this->connection()->executeCommand($command);
            if ($reply instanceof \Predis\Response\Status && (string) $reply === 'QUEUED') return (object) ['error' => self::QUEUED];
            return $reply instanceof \Predis\Response\ErrorInterface ? (object) ['error' => $reply->getMessage()] : $reply;
        }
        $reply = $this->cluster ? $this->byCluster(...$arguments) : $this->client->rawCommand('EVAL', ...$arguments);
        return $reply === false && ($error = $this->client->getLastError()) ? (object) compact('error') : $reply;
    }

    /** Its rawCommand() follows neither MOVED nor ASK; eval() would prepend the prefix to keys that have it. */
    private function byCluster(string $script, int $keys, int|string ...$arguments): mixed
    {
        $prefix = (string) $this->client->getOption(\Redis::OPT_PREFIX);     // of now: the program may have changed it
        if ($prefix !== '') $this->client->setOption(\Redis::OPT_PREFIX, '');
        try {
            return $this->client->eval($script, array_map(strval(...), $arguments), $keys);
        } finally {
            if ($prefix !== '') $this->client->setOption(\Redis::OPT_PREFIX, $prefix);
        }
    }

    private function connection(): \Predis\Connection\ConnectionInterface
    {
        $connection = $this->client->getConnection();
        return !$this->cluster && !$connection instanceof \Predis\Connection\NodeConnectionInterface ? $connection->getMaster() : $connection;
    }

    private static function own(?\Exception $e): bool
    {
        return $e instanceof \RedisException || $e instanceof \RedisClusterException || $e instanceof \Predis\PredisException;
    }

    /** The error reply that became an exception. */
    private function error(?\Exception $e): ?string
    {
        $this->broken = $e && $this->cluster && !$this->predis && version_compare((string) phpversion('redis'), '6.3', '<');
        $is = $e instanceof \Predis\Response\ServerException || (self::own($e) && preg_match('/^[A-Z]{2,} |\(CLUSTERDOWN\)/', $e->getMessage()));
        return $is ? $e->getMessage() : null;
    }

    /** The clients do not tell a time-out from a reset, but the time taken does. */
    private function errno(?\Exception $e, float $took): string
    {
        if (!self::own($e)) return '';
        $text = $e->getMessage();
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

    private static function lost(\Exception $e, string $errno, string $done, string $label): \BloomFilterException
    {
        $what = match (true) {
            $errno === '' => ($done ? "cannot tell what was $done: " : '') . "$label: " . ($e->getMessage() ?: 'the client failed'),
            $errno === 'Connection refused' => "cannot reach $label: $errno",
            default => ($done ? "cannot tell what was $done: no reply from $label: " : "cannot get a reply from $label: ") . $errno,
        };
        return new \BloomFilterException(substr($what, 0, 159), \BloomFilterException::IO, $e);
    }

    private static function refused(string $text, string $label): \BloomFilterException
    {
        if (str_starts_with($text, 'DAMAGED ')) return Fault::fail(\BloomFilterException::FORMAT, '%s is damaged: %.63s', $label, substr($text, 8));
        $code = str_starts_with($text, 'WRONGTYPE') ? \BloomFilterException::FORMAT : \BloomFilterException::IO;
        return Fault::fail($code, '%s: %.71s', $label, $text);
    }

    /** What comes later on it may be a reply to this round trip. */
    private function close(): void
    {
        try {
            $this->predis ? $this->client->disconnect() : $this->client->close();
        } catch (\Exception) {
        }
    }
}
