<?php
/* eight_hashes.php ADAPTER PORT - the class with eight hash functions, played by SETBIT and GETBIT, and our adapter for it
 * (docs/howto-php-eight-hashes.md) side by side: the same keys, each in a bitmap of its own, then both in one.  The positions
 * that the class itself gave are in tests/vectors. */
error_reporting(E_ALL & ~E_DEPRECATED & ~E_USER_WARNING);
require $argv[1];
const EIGHT = ['JSHash', 'PJWHash', 'ELFHash', 'BKDRHash', 'SDBMHash', 'DJBHash', 'DEKHash', 'FNVHash'];
class Ours extends BloomFilterRedis { protected $bucket = 'ours'; protected $hashFunction = EIGHT; }
class Both extends BloomFilterRedis { protected $bucket = 'theirs'; protected $hashFunction = EIGHT; }

class Theirs
{
    public function __construct(private Redis $redis, private BloomFilter $positions) {}

    private function each($command, $key, ...$bit)
    {
        $pipe = $this->redis->multi();
        foreach ($this->positions->hashcode($key) as $at) $pipe->$command('theirs', $at, ...$bit);
        return $pipe->exec();
    }

    public function add($key) { return $this->each('setBit', $key, 1); }
    public function exists($key) { return !in_array(0, $this->each('getBit', $key)); }
}

$redis = new Redis;
$redis->connect('127.0.0.1', (int) $argv[2], 60, null, 0, 60);
$ours = new Ours;
$theirs = new Theirs($redis, $ours->filter);
$keys = ['a', '0', "\0\xff", '中文', 'comment 5', str_repeat('long ', 200)];
for ($i = 0; $i < 300; $i++) array_push($keys, md5((string) $i), "https://www.example.org/$i", (string) $i);
for ($pass = 0; $pass < 2; $pass++) foreach ($keys as $key) {
    if ($theirs->exists($key) !== $ours->exists($key)) die("exists $key\n");
    if (($had = $theirs->add($key)) !== ($has = $ours->add($key))) die("add $key: " . json_encode([$had, $has]) . "\n");
}
$both = new Both;                                           # adopts
foreach ($keys as $key) if (!$both->exists($key) || $both->add($key) !== array_fill(0, 8, 1)) die("lost $key\n");
foreach (['new', 'other'] as $key) {
    if ($both->add(md5($key)) !== array_fill(0, 8, 0) || !$theirs->exists(md5($key))) die("new $key\n");
    if ($theirs->add(md5("$key 2")) !== array_fill(0, 8, 0) || !$both->exists(md5("$key 2"))) die("not seen $key\n");
}
$both->filter->clear();
if ($theirs->exists('a') || $theirs->add(md5('a')) !== array_fill(0, 8, 0) || !$both->exists(md5('a'))) die("clear\n");
echo 'same';
