--TEST--
Filters in Redis: connections kept open, passwords that do not show, open_basedir for sockets
--INI--
bloomfilter.unserialize_storage=1
zend.exception_ignore_args=0
zend.exception_string_param_max_len=1000
--FILE--
<?php require __DIR__ . '/redis.inc';
$redis = new RedisServer('--requirepass pa55w0rd');
$connections = fn() => preg_match_all('/ name=/', $redis->say('CLIENT LIST')) - 1;     # but the one that asks
$url = str_replace('//', '//:pa55w0rd@', $redis->url('seen'));
$start = kept();

# one connection, however often it is opened
for ($i = 0; $i < 5; $i++) same(true, (new BloomFilter(n: 1000, p: 0.01, storage: $url))->add("key $i"));
same([$start + 1, 1], [kept(), $connections()]);
$f = new BloomFilter(n: 1000, p: 0.01, storage: $url);
refused('BloomFilterException', 'has n=1000, asked for n=999', fn() => new BloomFilter(n: 999, p: 0.01, storage: $url));
$redis->say('CLIENT KILL TYPE normal');
same([true, true], [BloomFilter::open($url)->exists('key 1'), $f->add('after the kill')]);
$redis->say('FLUSHALL');
refused('BloomFilterException', 'does not exist', fn() => BloomFilter::open($url));
same(false, (new BloomFilter(n: 500, p: 0.01, storage: $url))->exists('key 1'));        # not the lost one that was kept
refused('BloomFilterException', 'was re-created', fn() => $f->exists('key 1'));
same([500, $start + 2], [BloomFilter::open($url)->n, kept()]);      # one is $f's

# no password
$f = BloomFilter::open($url);
ob_start();
var_dump($f);
print_r($f);
var_export($f);
foreach ([fn() => new BloomFilter(n: 10, p: 0.01, storage: $url), fn() => BloomFilter::open(str_replace('=seen', '=none', $url)),
          fn() => BloomFilter::plan(n: 0, p: 0.01, storage: $url), fn() => new BloomFilter(n: 10, p: 0.01, storage: "$url&more=1"),
          fn() => new BloomFilter(n: 10, p: 0.01, storage: preg_replace('/:\d+\//', ':1/', $url)),
          fn() => new BloomFilter(n: 10, p: 0.01, storage: str_replace(':pa55w0rd', ':pa55w0rd.', $url))] as $call) {
    try { $call(); echo "no exception\n"; }
    catch (Throwable $e) { echo $e, print_r($e->getTrace(), true); }
}
$shown = ob_get_clean();
same([false, false, true, true], [str_contains($shown, 'pa55w0rd'), str_contains($shown, 'no exception'), str_contains($shown, 'WRONGPASS'),
                                  str_contains($shown, "Redis key seen at 127.0.0.1:$redis->port")]);
refused('BloomFilterException', 'NOAUTH', fn() => BloomFilter::open($redis->url('seen')));

# open_basedir
$code = <<<'PHP'
require HELPERS;
$dir = DIR;
$socket = "unix://:pa55w0rd@$dir/redis%20socket";
$f = new BloomFilter(1000, 10, storage: "$socket?key=s");
$text = serialize($f);
same([true, true], [$f->add('a'), BloomFilter::open("$socket?db=0", key: 's')->exists('a')]);
mkdir("$dir/narrow");
$allowed = "$dir/narrow";
ini_set('open_basedir', $allowed);
foreach ([fn() => BloomFilter::open("$socket?key=s"), fn() => new BloomFilter(1000, 10, storage: "$socket?key=s"), fn() => unserialize($text),
          fn() => BloomFilter::open("unix://$allowed/../redis%20socket?key=s"), fn() => BloomFilter::open("unix://$allowed%2f..%2Fredis%20socket?key=s"),
          fn() => BloomFilter::open("unix://x:y@$dir/redis%20socket?key=$allowed"), fn() => BloomFilter::open('unix://?key=s'),
          fn() => BloomFilter::open("unix://$allowed%00/x?key=s"), fn() => BloomFilter::open("unix://:@%2f$allowed/x?key=s"),
          fn() => BloomFilter::open("unix://:p/pa55w0rd@$dir/redis%20socket?key=s")] as $call) {
    try { $call(); echo "no exception\n"; }
    catch (Exception $e) { same([true, false], [str_contains($e->getMessage(), 'open_basedir does not allow'), str_contains($e->getMessage(), 'pa55w0rd')], $e->getMessage()); }
}
refused('BloomFilterException', 'No such file', fn() => BloomFilter::open("unix://$allowed/none?key=s"));
same([true, true], [$f->exists('a'), BloomFilter::open(URL)->add('over the network')]);
echo "as asked\n";
PHP;
echo in_other_php(strtr($code, ['HELPERS' => var_export(__DIR__ . '/helpers.inc', true), 'DIR' => var_export($redis->dir, true), 'URL' => var_export($url, true)]));

# Redis gone: an exception, and what is kept works again as soon as one answers
$redis->stop();
refused('BloomFilterException', "Redis key seen at 127.0.0.1:$redis->port", fn() => $f->exists('a'));
refused('BloomFilterException', "Redis key seen at 127.0.0.1:$redis->port", fn() => new BloomFilter(n: 500, p: 0.01, storage: $url));
echo "done\n";
--EXPECT--
as asked
done
