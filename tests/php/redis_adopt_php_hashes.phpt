--TEST--
adopt of the eight-hash PHP class's bitmap (m = 2^32): the class goes on by SETBIT and GETBIT through phpredis
--SKIPIF--
<?php
if (!extension_loaded('redis')) die('skip phpredis is not loaded');
if (!preg_match('/MemAvailable: *(\d+)/', @file_get_contents('/proc/meminfo') ?: '', $m) || $m[1] < 3 << 20) die('skip needs 3 GiB of free memory');
?>
--FILE--
<?php require __DIR__ . '/redis.inc';
error_reporting(E_ALL & ~E_WARNING); # the class relies on what PHP makes of floats beyond int, of which PHP 8.5 warns
# The other system: three of its hash functions, as 64-bit PHP counts, and one MULTI of SETBITs an add.
class Theirs
{
    public function __construct(private Redis $redis, private string $key) {}
    private static function bkdr(string $s): int { for ($h = 0, $i = 0; $i < strlen($s); $i++) $h = (int)($h * 131 + ord($s[$i])); return $h; }
    private static function sdbm(string $s): int { for ($h = 0, $i = 0; $i < strlen($s); $i++) $h = (int)(ord($s[$i]) + ($h << 6) + ($h << 16) - $h); return $h; }
    private static function js(string $s): int { for ($h = 1315423911, $i = 0; $i < strlen($s); $i++) $h ^= (int)(($h << 5) + ord($s[$i]) + ($h >> 2)); return $h; }
    private static function offsets(string $s): array
    {
        return array_map(fn(int $h): int => ($h % 4294967295) & 0xFFFFFFFF, [self::bkdr($s), self::sdbm($s), self::js($s)]);
    }
    public function add(string $s): array
    {
        $all = $this->redis->multi();
        foreach (self::offsets($s) as $offset) $all->setBit($this->key, $offset, true);
        return $all->exec();
    }
    public function exists(string $s): bool
    {
        $all = $this->redis->multi();
        foreach (self::offsets($s) as $offset) $all->getBit($this->key, $offset);
        return !in_array(0, $all->exec(), true);
    }
    public function lacks(array $keys): int { return count(array_filter($keys, fn($key) => !$this->exists($key))); }
}
$server = new RedisServer;
$redis = new Redis;
$redis->connect('127.0.0.1', $server->port, 60, null, 0, 60);
$theirs = new Theirs($redis, 'seen');
$scheme = ['scheme' => 'php-hashes:BKDRHash,SDBMHash,JSHash'];
ini_set('bloomfilter.warn', '0');
$keys = urls(300);
[$first, $second, $ours, $never] = [array_slice($keys, 0, 100), array_slice($keys, 100, 100), array_slice($keys, 200), urls(300, 'other')];
foreach ($first as $key) $theirs->add($key);
same([1, 1, 1], $theirs->add($first[0]));
# BKDR holds them all for one: of three positions two tell keys apart, SDBM and JS
foreach ([['storage' => $redis, 'key' => 'seen'], ['storage' => $server->url('seen') . '&timeout=60']] as $where) {
    $f = BloomFilter::open(...$where, ...$scheme, adopt: true);
    same([300, 0], [count(array_filter($f->existMany([...$first, ...$first, ...$first]))), count(array_filter($f->existMany($never)))]);
    same(1 << 29, $redis->strlen('seen'));
}
$f = BloomFilter::open($redis, key: 'seen');                # by its name alone
same(['php-hashes:BKDR,SDBM,JS', 2 ** 32, 3], [$f->scheme, $f->m, $f->k]);
foreach ($second as $key) $theirs->add($key);
$f->addMany($ours);
same([300, 0], [count(array_filter($f->existMany($keys))), $theirs->lacks($keys)]);
$f->clear();
same([0, 300], [count(array_filter($f->existMany($keys))), $theirs->lacks($keys)]);
same([0, 0, 0], $theirs->add($first[0]));
same([true, false], [$f->exists($first[0]), $f->exists($first[1])]);
$f->expire(1000);
same([true, true], [$redis->ttl('seen') > 900, $redis->ttl('seen:meta') > 900]);
$theirs->add($first[1]);
same([true, true], [$f->exists($first[0]), $f->exists($first[1])]);
$redis->del('seen');
foreach ($second as $key) $theirs->add($key);
refused('BloomFilterException', 'is lost', fn() => $f->exists($second[0]));
same(0, $theirs->lacks($second));
$f = BloomFilter::open($redis, ...$scheme, key: 'seen', adopt: true);
same(100, count(array_filter($f->existMany($second))));
$f->delete();
same(0, $redis->dbSize());
$f = new BloomFilter(...$scheme, storage: $redis, key: 'seen');     # made here, for the class to go on with
$f->addMany($ours);
$theirs->add($first[0]);
same([true, 0], [$f->exists($first[0]), $theirs->lacks($ours)]);
$f->delete();
--EXPECT--
