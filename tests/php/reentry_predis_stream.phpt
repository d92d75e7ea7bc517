--TEST--
A stream filter that closes Predis's connection while the filter's replies are read: the answer is right, or an exception
--FILE--
<?php require __DIR__ . '/redis.inc';
$server = new RedisServer;
class Closer extends php_user_filter
{
    public static $do = null;
    public function filter($in, $out, &$consumed, bool $closing): int
    {
        while ($bucket = stream_bucket_make_writeable($in)) {
            $consumed += $bucket->datalen;
            stream_bucket_append($out, $bucket);
        }
        if ($do = self::$do) { self::$do = null; $do(); }
        return PSFS_PASS_ON;
    }
}
stream_filter_register('closer', 'Closer');
$client = clients($server->port)['Predis'](0.3);
$f = new BloomFilter(n: 100, p: 1e-6, storage: $client, key: 'f');
$f->addMany(urls(50));
foreach ([STREAM_FILTER_READ, STREAM_FILTER_WRITE] as $which)
    foreach (['disconnect' => fn() => $client->disconnect(), 'throw' => fn() => throw new LogicException('mine'), 'drop' => function () use (&$client) { $client->disconnect(); $client = null; gc_collect_cycles(); },
              'use' => fn() => $f->exists('x')] as $name => $do) {
        $client ??= clients($server->port)['Predis'](0.3);
        $f = new BloomFilter(n: 100, p: 1e-6, storage: $client, key: 'f');
        $resource = $client->getConnection()->getResource();
        if (is_object($resource)) $resource = (fn() => $this->stream)->call($resource);     # Predis 3
        stream_filter_append($resource, 'closer', $which);
        unset($resource);
        Closer::$do = $do;
        try {
            same(array_fill(0, 50, true), $f->existMany(urls(50)), $name);
        } catch (BloomFilterException | LogicException) {
        }
        Closer::$do = null;
        same([true, false], [$f->exists(urls(1)[0]), $f->exists('x')], $name);
    }
--EXPECT--
