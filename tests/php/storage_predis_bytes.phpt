--TEST--
Replies to Predis that come in pieces, too slowly, twice, cut off, not at all, for a transaction or to another command: the right answer or an exception, and the next answer is right
--FILE--
<?php require __DIR__ . '/redis.inc';
$server = new RedisServer;
require_once '/usr/share/php/Predis/autoload.php';
# Between client and server.  What it does with the next reply stands in a file.
$proxy = <<<'CODE'
    [, $port, $file] = $argv;
    $listener = stream_socket_server('tcp://127.0.0.1:0');
    echo strrchr(stream_socket_get_name($listener, false), ':'), "\n";
    for ($to = [];;) {
        $ready = [$listener, ...array_column($to, 0)];
        stream_select($ready, $none, $none, null);
        foreach ($ready as $from) {
            if ($from === $listener) {
                [$a, $b] = [stream_socket_accept($listener), stream_socket_client("tcp://127.0.0.1:$port")];
                [$to[(int)$a], $to[(int)$b]] = [[$a, $b, false], [$b, $a, true]];
                continue;
            }
            if (!isset($to[(int)$from])) continue;
            [, $other, $reply] = $to[(int)$from];
            $bytes = (string)fread($from, 65536);
            $how = $bytes === '' ? 'close' : 'pass';
            if ($reply && $how === 'pass' && is_file($file)) {
                $how = file_get_contents($file);
                unlink($file);
            }
            match ($how) {
                'bytes' => array_map(function ($byte) use ($other) { fwrite($other, $byte); usleep(10); }, str_split($bytes, 1 + intdiv(strlen($bytes), 200))),
                'slowly' => array_map(function ($byte) use ($other) {      # until the client closes
                    $ends = [$other];
                    if (!stream_select($ends, $none, $none, 0, 250000)) fwrite($other, $byte);
                }, str_split($bytes, intdiv(strlen($bytes) + 31, 32))),
                'twice' => fwrite($other, "$bytes$bytes"),
                'half' => fwrite($other, substr($bytes, 0, intdiv(strlen($bytes), 2))),
                'other' => fwrite($other, "no reply\r\n"),
                'odd' => fwrite($other, str_repeat("+odd\r\n", 1000)),
                'one' => fwrite($other, "+odd\r\n" . substr($bytes, -23)),    # and the reply to ECHO
                'pass' => fwrite($other, $bytes),
                'close', 'never' => null,
            };
            if (in_array($how, ['half', 'close'])) {
                unset($to[(int)$from], $to[(int)$other]);
                fclose($from);
                fclose($other);
            }
        }
    }
    CODE;
$file = folder() . '/how';
$process = proc_open([PHP_BINARY, '-n', '-r', $proxy, (string)$server->port, $file], [['file', '/dev/null', 'r'], ['pipe', 'w'], ['file', '/dev/null', 'w']], $pipes);
register_shutdown_function(function () use ($process) { proc_terminate($process, 9); proc_close($process); });
$port = (int)substr(fgets($pipes[1]), 1);
$open = function () use ($port) {
    $client = new Predis\Client(['host' => '127.0.0.1', 'port' => $port, 'read_write_timeout' => 60]);
    return [$client, BloomFilter::open($client, key: 'seen'), BloomFilter::open($client, key: 'seen')];
};
$f = new BloomFilter(n: 10000, p: 1e-9, storage: new Predis\Client(['host' => '127.0.0.1', 'port' => $server->port]), key: 'seen');
$f->addMany($in = urls(200));
$some = [...array_slice($in, 0, 9), 'no'];
# how => texts of the exceptions of an add, whose command is not sent again
$texts = ['bytes' => '', 'twice' => 'does not speak the Redis protocol', 'half' => 'Connection reset by peer', 'close' => 'Connection reset by peer',
          'other' => 'does not speak the Redis protocol', 'odd' => 'out of step', 'never' => 'timed out', 'slowly' => 'timed out'];
# Predis 3 has a reply of its own when it connects
$next = function (string $how) use (&$client, $file) { $client->ping(); file_put_contents($file, $how); };
# what waits for a reply that does not come in time has little time; all else has time on a busy machine
$refused = function (string $text, callable $call) use (&$client) {
    if ($text === 'timed out') patience($client, 0.6);
    refused('BloomFilterException', $text, $call);
    patience($client);
};
$n = 0;
foreach ($texts as $how => $text) {
    [$client, $f, $g] = $open();
    $calls = ['add' => fn() => same(true, $f->add("new $n")), 'addMany' => fn() => same(2, $f->addMany(["one $n", "two $n"]))];
    foreach ($calls as $name => $call) {
        $next($how);
        if ($text === '') $call();
        else $refused($text, $call);
        same([true, false, [true, false]], [$g->exists($in[$n]), $g->exists("no $n"), $f->existMany([$in[$n], "no $n"])], "$name, $how");
        same('PONG', (string)$client->ping(), "$name, $how");
        $n++;
    }
    # a command that only reads is sent again, unless there was no reply in time
    $next($how);
    if ($text === 'timed out') $refused($text, fn() => $f->exists($in[0]));
    else same(true, $f->exists($in[0]), $how);
    $next($how);
    if ($text === 'timed out') $refused($text, fn() => $f->existMany($some));
    else same([...array_fill(0, 9, true), false], $f->existMany($some), $how);
    same([true, false], [$g->exists($in[1]), $f->exists('no')], $how);
}
[$client, $f, $g] = $open();
# the previous exception is that of Predis
foreach (['close' => Predis\Connection\ConnectionException::class, 'other' => Predis\Protocol\ProtocolException::class] as $how => $class) {
    $next($how);
    try { $f->add('x'); echo "no exception\n"; } catch (BloomFilterException $e) { same($class, get_class($e->getPrevious())); }
}
# a reply that the filter refuses closes the connection
$next('one');
refused('BloomFilterException', 'unexpected reply', fn() => $f->add('refused'));
same([false, true], [$client->isConnected(), $g->exists($in[0])]);
# a call of the program ended before its reply came, as after an exception of a signal handler: a test is sent again, an add is an exception
$leave = function (string ...$command) use (&$client) { $client->getConnection()->writeRequest(Predis\Command\RawCommand::create(...$command)); };
$arrived = function () use (&$client) {
    $read = [stream_of($client)];
    stream_select($read, $none, $none, 60);
};
foreach ([$f, $g] as $filter) foreach ([[['PING']], [['PING'], ['ECHO', str_repeat('x', 100)]], [['INCR', 'one']]] as $commands) foreach (['exists', 'existMany', 'add'] as $method) {
    $client->del('one');
    foreach ($commands as $command) $leave(...$command);
    $arrived();
    try { same(['exists' => true, 'existMany' => [true, false], 'add' => false][$method], $filter->$method($method === 'existMany' ? [$in[0], 'out'] : $in[0])); }
    catch (BloomFilterException $e) { same(['add', true], [$method, str_contains($e->getMessage(), 'out of step')], $e->getMessage()); }
    same([true, false, [true, false]], [$filter->exists($in[1]), $filter->exists('out'), $filter->existMany([$in[2], 'out'])], $method);
}
$leave('BLPOP', 'none', '1');                       # its reply comes after the filter's command was sent
try { same(true, $f->exists($in[0])); } catch (BloomFilterException $e) { same(1, preg_match('/unexpected reply|out of step/', $e->getMessage()), $e->getMessage()); }
same([true, false, true, false], [$g->exists($in[0]), $g->exists('out'), $f->exists($in[0]), $f->exists('out')]);
# a transaction of the program; the reply comes in pieces
foreach (['pass', 'bytes'] as $how) {
    $client->executeRaw(['MULTI']);
    file_put_contents($file, $how);
    refused('BloomFilterException', 'is in a pipeline or transaction: end it first', fn() => $f->exists($in[0]));
    refused('BloomFilterException', 'is in a pipeline or transaction: end it first', fn() => $f->addMany(['y', 'z']));
    $client->executeRaw(['DISCARD']);
    same([true, false, true], [$g->exists($in[0]), $g->exists('y'), $f->add("after $how")]);
}
# commands and replies larger than any buffer
$big = new BloomFilter(n: 1_000_000, p: 0.001, storage: $client, key: 'big');
$big->addMany($many = urls(20000, 'big'));
$memory = new BloomFilter(n: 1_000_000, p: 0.001);
$memory->addMany($many);
same([20000, true], [count(array_filter($big->existMany($many))), $big->equals($memory)]);
--EXPECT--
