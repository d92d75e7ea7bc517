--TEST--
Faults behind a client object of phpredis or Predis are exceptions with its own as the previous one; the same object works afterwards
--SKIPIF--
<?php if (!extension_loaded('redis')) die('skip phpredis is not loaded');
--FILE--
<?php require __DIR__ . '/redis.inc';
function calls(BloomFilter $f): array
{
    return [fn() => $f->add('new'), fn() => $f->exists('kept'), fn() => $f->addMany(['new', 'newer']), fn() => $f->existMany(['kept', 'x']),
            fn() => $f->bitset, fn() => $f->clear(), fn() => $f->count(), fn() => clone $f];
}
function all_refused(BloomFilter $f, string $part): void { foreach (calls($f) as $call) refused('BloomFilterException', $part, $call); }


foreach (['phpredis' => 'RedisException', 'Predis' => 'Predis\PredisException'] as $kind => $own) {
    $server = new RedisServer('--enable-debug-command yes');
    $port = $server->port;
    $connect = clients($port)[$kind];
    $redis = $connect();
    $login = function () use ($redis, $own) { $own === 'RedisException' ? $redis->auth(['some', 's3same']) : $redis->executeRaw(['AUTH', 'some', 's3same']); };
    $f = new BloomFilter(n: 1000, p: 0.01, storage: $redis, key: 'seen');
    $f->add('kept');

    # of another type, lost, foreign
    $redis->rename('seen', 'aside');
    $server->say('LPUSH seen x');
    all_refused($f, 'WRONGTYPE');
    $redis->del('seen');
    foreach (array_slice(calls($f), 0, 4) as $call) refused('BloomFilterException', 'is lost', $call);
    $redis->rename('aside', 'seen');
    same([true, false], [$f->exists('kept'), $f->exists('none')]);

    # refusals that phpredis throws, alone and in pipelines
    $server->say('ACL SETUSER some on >s3same ~* +@all');
    $login();
    $server->say('ACL SETUSER some resetkeys ~other');
    all_refused($f, 'NOPERM');
    $server->say('ACL SETUSER some ~*');
    $login();
    same([true, true], [$f->exists('kept'), $f->add('first')]);
    $counting = new CountingBloomFilter(n: 9, p: 1e-9, grow: 1.0, storage: $redis, key: 'counted');
    $counting->addMany(range(1, 30));
    # a full server and a replica count all the same
    $counted = fn() => same([1, 1, 0], [$counting->countOf(1), $counting->countOf(30), $counting->countOf('x')]);
    $server->say('CONFIG SET maxmemory 1');
    $counted();
    refused('BloomFilterException', 'OOM', fn() => $counting->add('x'));
    refused('BloomFilterException', 'OOM', fn() => $f->add('new'));
    refused('BloomFilterException', 'OOM', fn() => $f->addMany(['new', 'newer']));
    same([true, [true, false]], [$f->exists('kept'), $f->existMany(['kept', 'newest'])]);
    $server->say('CONFIG SET maxmemory 0');
    $server->say('REPLICAOF 127.0.0.1 1');
    $counted();
    refused('BloomFilterException', 'READONLY', fn() => $counting->add('x'));
    refused('BloomFilterException', 'READONLY', fn() => $f->add('new'));
    refused('BloomFilterException', 'READONLY', fn() => $f->addMany(['new', 'newer']));
    $server->say('REPLICAOF NO ONE');
    same([true, 2], [$f->add('second'), $f->addMany(['third', 'fourth'])]);

    # too slow: the connection is out of step then, and must not be read further
    $slow = new BloomFilter(n: 1000, p: 0.01, storage: $hasty = $connect(), key: 'seen');
    foreach (calls($slow) as $i => $call) {
        if ($i > 3) break;
        $server->hang();
        patience($hasty, 0.3);
        try { $call(); echo "no exception: $i\n"; }
        catch (BloomFilterException $e) { $slow_text = $e->getMessage(); same([true, true], [str_contains($slow_text, 'seen'), $e->getPrevious() instanceof $own || $i > 1], (string)$e); }
        patience($hasty);
        $server->hang(false);
        same([true, false, [true, false, true]], [$slow->exists('kept'), $slow->exists("none $i"), $slow->existMany(['kept', "none $i", 'second'])]);
        if ($own === 'RedisException') same(Redis::ATOMIC, $hasty->getMode());
        else same(true, str_contains($slow_text, 'timed out'), $slow_text);
    }

    # a child of a fork speaks on a connection of its own
    if (function_exists('pcntl_fork')) {
        $pid = pcntl_fork();
        if ($pid === 0) { for ($i = 0; $i < 200; $i++) $f->add("c$i"); pcntl_exec('/bin/true'); }
        for ($i = 0; $i < 200; $i++) if (!($f->add("p$i") & $f->exists("p$i"))) echo "wrong\n";
        pcntl_waitpid($pid, $status);
        same([true, true], [$f->exists('kept'), $f->exists('c199')]);
    }

    # nobody there
    $server->stop();
    foreach (calls($f) as $call) {
        try { $call(); echo "no exception\n"; }
        catch (BloomFilterException $e) { same([BloomFilterException::IO, false], [$e->getCode(), str_contains($e->getMessage(), 's3same')], (string)$e); }
    }
    try { $f->add('x'); } catch (BloomFilterException $e) { same(true, $e->getPrevious() instanceof $own, (string)$e); }
    $nobody = $own === 'RedisException' ? new Redis : new Predis\Client("tcp://127.0.0.1:$port");
    try { new BloomFilter(n: 10, p: 0.1, storage: $nobody, key: 'x'); echo "no exception\n"; } catch (BloomFilterException $e) { same(true, $e->getPrevious() instanceof $own); }
}
--EXPECT--
