--TEST--
A cluster object of phpredis or Predis as storage: slots that move while keys are added, a failover, and a cluster that is down
--SKIPIF--
<?php if (!extension_loaded('redis')) die('skip phpredis is not loaded'); if (!trim((string)shell_exec('command -v redis-cli'))) die('skip no redis-cli');
--FILE--
<?php require __DIR__ . '/redis_cluster.inc';
$nodes = new RedisNodes;
require_once '/usr/share/php/Predis/autoload.php';
function predis_cluster(RedisNodes $nodes, array $options = []): Predis\Client
{
    return new Predis\Client(array_values(array_map(fn($n) => "tcp://127.0.0.1:$n->port", $nodes->nodes)), ['cluster' => 'redis'] + $options);
}
$cluster = cluster_client($nodes);
$keys = urls(1000);
foreach (['classic' => predis_cluster($nodes), 'block2' => $cluster] as $scheme => $client) {
    $how = ['n' => 2000, 'p' => 0.01, 'scheme' => $scheme];
    $f = new BloomFilter(...$how, storage: $client, key: $scheme);
    same_answers($f, new BloomFilter(...$how), $keys, $scheme);
    same([1, 1], [$cluster->exists($scheme), $cluster->exists('{' . $scheme . '}:meta')]);
    $f->clear();
    $f->expire(1000);
    same([false, true], [$f->exists('one'), $cluster->ttl($scheme) > 900], $scheme);
    refused('BloomFilterException', 'n=2000', fn() => new BloomFilter(n: 5, p: 0.01, scheme: $scheme, storage: $client, key: $scheme));
    $f->delete();
    refused('BloomFilterException', 'is lost', fn() => $f->exists('one'));
}
foreach ([predis_cluster($nodes), $cluster] as $client)
    refused('BloomFilterException', 'waitReplicas', fn() => new BloomFilter(n: 5, p: 0.01, storage: $client, key: 'w', waitReplicas: 1));
refused('ValueError', 'hash tag', fn() => new BloomFilter(n: 5, p: 0.01, storage: $cluster, key: 'a}b'));

# its prefix comes before the key, and stays; so does a later one, which is not the filter's
$cluster->setOption(Redis::OPT_PREFIX, 'app:');
$f = new BloomFilter(n: 1000, p: 0.01, storage: $cluster, key: 'seen');
same([true, true, 2], [$f->add('a'), $f->exists('a'), $f->addMany(['b', 'c'])]);
same('app:', $cluster->getOption(Redis::OPT_PREFIX));
$cluster->setOption(Redis::OPT_PREFIX, 'later:');
same([true, 'later:'], [$f->exists('a'), $cluster->getOption(Redis::OPT_PREFIX)]);
$cluster->setOption(Redis::OPT_PREFIX, 'app:');
same([true, 1], [(new BloomFilter(n: 1000, p: 0.01, storage: cluster_client($nodes), key: 'app:seen'))->exists('a'), $cluster->exists('seen')]);
same([true, true], [(new BloomFilter(n: 1000, p: 0.01, storage: predis_cluster($nodes, ['prefix' => 'app:']), key: 'seen'))->exists('a'), $f->exists('a')]);
$cluster->setOption(Redis::OPT_PREFIX, '');

# shards spread over the nodes
$f = new BloomFilter(n: 2000, p: 0.01, shards: 5, storage: $cluster, key: 'spread');
$m = new BloomFilter(n: 2000, p: 0.01, shards: 5);
same([$m->addMany($keys), $m->existMany([...$keys, ...urls(100, 'other')])], [$f->addMany($keys), $f->existMany([...$keys, ...urls(100, 'other')])]);
same([true, false, true, true], [$f->add('one'), $f->add('one'), $f->exists('one'), $m->add('one') && $f->equals($m)]);
same([true, 0, true], [($g = BloomFilter::open(predis_cluster($nodes), key: 'spread'))->exists('one'), $g->addMany($keys), $g->equals($m)]);
same([true, 5], [BloomFilter::open($cluster, key: 'spread', cache: true)->exists('one'), array_sum(array_map(fn($i) => $cluster->exists("spread:$i"), range(0, 4)))]);
$f->delete();

# a filter of parts that counts, by two objects: all in the key's slot
$how = ['n' => 50, 'p' => 1e-4, 'grow' => 2.0];
$f = new CountingBloomFilter(...$how, storage: $cluster, key: 'counts', cache: true);
$g = CountingBloomFilter::open(cluster_client($nodes, 1), key: 'counts');
same_growing_counts($f, $g, new CountingBloomFilter(...$how), $keys);
$g->delete();
same(0, $cluster->exists('{counts}:meta'));

# errors of the key
$cluster->lPush('list', 'x');
refused('BloomFilterException', 'WRONGTYPE', fn() => new BloomFilter(n: 5, p: 0.01, storage: $cluster, key: 'list'));

# moving: each step with keys added in the old place, in between and in the new one
$f = new BloomFilter(n: 100000, p: 1e-6, storage: $cluster, key: 'moving');
$m = new BloomFilter(n: 100000, p: 1e-6);
$i = 0;
$by_predis = BloomFilter::open(predis_cluster($nodes), key: 'moving');
$work = function () use ($f, $m, $by_predis, &$i) {
    for ($end = $i + 30; $i < $end; $i++) {
        same([true, true, 2], [$f->add("k$i"), $f->exists("k$i"), $f->addMany(["m$i", "n$i"])], "key $i");
        same([false, true, false, true, [true, false]], [$by_predis->add("k$i"), $by_predis->exists("n$i"), $by_predis->exists("absent $i"), $by_predis->add("p$i"),
            $by_predis->existMany(["m$i", "absent $i"])], "key $i");
        $m->add("p$i");
        same([true, false, true], $f->existMany(['k' . intdiv($i, 2), "absent $i", "n$i"]), "key $i");
        $m->addMany(["k$i", "m$i", "n$i"]);
    }
};
# a filter opened meanwhile is found, or the exception says that Redis wants another try
$grows = new BloomFilter(n: 100, p: 0.001, grow: 2.0, storage: $cluster, key: '{moving}grow');
$grows->addMany(['grown', ...urls(1000)]);
$opens = function () use ($cluster, $nodes) {
    foreach ([$cluster, predis_cluster($nodes)] as $client)
        foreach (['moving' => 'k0', '{moving}grow' => 'grown'] as $name => $key)
            try {
                same(true, BloomFilter::open($client, key: $name)->exists($key), $name);
            } catch (BloomFilterException $e) {
                same(true, str_contains($e->getMessage(), 'TRYAGAIN'), $e->getMessage());
            }
};
for ($round = 0; $round < 2; $round++) {
    [$from, $to] = $nodes->masters('moving');
    $slot = (int)substr($nodes->say(0, 'CLUSTER KEYSLOT moving'), 1);
    $work();
    $nodes->say($to, "CLUSTER SETSLOT $slot IMPORTING " . $nodes->id($from));
    $nodes->say($from, "CLUSTER SETSLOT $slot MIGRATING " . $nodes->id($to));
    foreach (['moving', '{moving}:meta', '{moving}grow', '{moving}grow:meta'] as $key) {
        $work();
        $opens();
        same('+OK', substr($nodes->say($from, "MIGRATE 127.0.0.1 {$nodes->nodes[$to]->port} \"\" 0 60000 KEYS $key"), 0, 3));
    }
    $work();
    foreach ([$to, ...$nodes->masters('moving')] as $node) $nodes->say($node, "CLUSTER SETSLOT $slot NODE " . $nodes->id($to));
    $work();
}
same(true, $f->equals($m));

# a master dies: exceptions or right answers until its replica has taken over
$nodes->settle();
[$lost] = $nodes->masters('moving');
# (WAIT counts the replicas that have what its own connection wrote)
same("+OK\r\n:1", substr($nodes->say($lost, "SET {moving}:last 1\r\nWAIT 1 60000"), 0, 7));
$replica = $nodes->replica($lost);
# (phpredis follows a MOVED to the dead node until its timeout is over)
$nodes->until(function () use (&$f, $nodes) {
    try { return ($f = BloomFilter::open(cluster_client($nodes, 0, 1), key: 'moving'))->exists('k0'); }
    catch (BloomFilterException | RedisClusterException) { return false; }
});
$nodes->lose($lost);
# (phpredis before 6.3 crashes where it goes on after that, so the object is refused and a new one is needed)
$nodes->until(function () use (&$f, &$replica, $nodes, $i) {
    try {
        if (in_array(false, $f->existMany(['k0', 'k1', 'm2', "n" . $i - 1]), true)) die("a key is absent\n");
        return $f->add('after') || $f->exists('after');
    } catch (BloomFilterException $e) {
        same(true, str_contains($e->getMessage(), 'moving'), (string)$e);
        if ($replica !== null) same('+OK', substr($nodes->say($replica, 'CLUSTER FAILOVER TAKEOVER'), 0, 3));
        $replica = null;
        if (version_compare(phpversion('redis'), '6.3', '<')) {
            refused('BloomFilterException', 'create a new object', fn() => $f->exists('k0'));
            try { $f = BloomFilter::open(cluster_client($nodes, array_key_first($nodes->nodes)), key: 'moving'); }
            catch (BloomFilterException | RedisClusterException) { }
        }
        return false;
    }
});
same([true, true, false], [$f->exists('k0'), $f->exists('after'), $f->exists('never')]);

# and without the replica there is no answer at all
[$last] = $nodes->masters('moving');
$nodes->lose($last);
foreach (array_keys($nodes->nodes) as $i) $nodes->say($i, 'CONFIG SET cluster-node-timeout 1000');
$nodes->until(fn() => str_contains($nodes->say(array_key_first($nodes->nodes), 'CLUSTER INFO'), 'cluster_state:fail'));
foreach ([fn() => $f->add('new'), fn() => $f->exists('k0'), fn() => $f->addMany(['new']), fn() => $f->existMany(['k0']), fn() => $f->bitset] as $call)
    refused('BloomFilterException', 'moving', $call);
--EXPECT--
