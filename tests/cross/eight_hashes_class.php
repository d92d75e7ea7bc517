<?php
/* eight_hashes_class.php - the PHP class with eight hash functions whose bitmap is in Redis, through phpredis, as its text has it; only the
 * abstract class has another name, because the adapter of docs/howto-php-eight-hashes.md has this one. */

class BloomFilterHash
{
    public function JSHash($string, $len = null)
    {
        $hash = 1315423911;
        $len || $len = strlen($string);
        for ($i = 0; $i < $len; $i++) $hash ^= (($hash << 5) + ord($string[$i]) + ($hash >> 2));
        return ($hash % 0xFFFFFFFF) & 0xFFFFFFFF;
    }

    public function PJWHash($string, $len = null)
    {
        $bitsInUnsignedInt = 4 * 8;
        $threeQuarters = ($bitsInUnsignedInt * 3) / 4;
        $oneEighth = $bitsInUnsignedInt / 8;
        $highBits = 0xFFFFFFFF << (int) ($bitsInUnsignedInt - $oneEighth);
        $hash = 0;
        $len || $len = strlen($string);
        for ($i = 0; $i < $len; $i++) $hash = ($hash << (int) $oneEighth) + ord($string[$i]);
        $test = $hash & $highBits;
        if ($test != 0) $hash = (($hash ^ ($test >> (int) $threeQuarters)) & ~$highBits);
        return ($hash % 0xFFFFFFFF) & 0xFFFFFFFF;
    }

    public function ELFHash($string, $len = null)
    {
        $hash = 0;
        $len || $len = strlen($string);
        for ($i = 0; $i < $len; $i++) {
            $hash = ($hash << 4) + ord($string[$i]);
            $x = $hash & 0xF0000000;
            if ($x != 0) $hash ^= ($x >> 24);
            $hash &= ~$x;
        }
        return ($hash % 0xFFFFFFFF) & 0xFFFFFFFF;
    }

    public function BKDRHash($string, $len = null)
    {
        $seed = 131;
        $hash = 0;
        $len || $len = strlen($string);
        for ($i = 0; $i < $len; $i++) $hash = (int) (($hash * $seed) + ord($string[$i]));
        return ($hash % 0xFFFFFFFF) & 0xFFFFFFFF;
    }

    public function SDBMHash($string, $len = null)
    {
        $hash = 0;
        $len || $len = strlen($string);
        for ($i = 0; $i < $len; $i++) $hash = (int) (ord($string[$i]) + ($hash << 6) + ($hash << 16) - $hash);
        return ($hash % 0xFFFFFFFF) & 0xFFFFFFFF;
    }

    public function DJBHash($string, $len = null)
    {
        $hash = 5381;
        $len || $len = strlen($string);
        for ($i = 0; $i < $len; $i++) $hash = (int) (($hash << 5) + $hash) + ord($string[$i]);
        return ($hash % 0xFFFFFFFF) & 0xFFFFFFFF;
    }

    public function DEKHash($string, $len = null)
    {
        $len || $len = strlen($string);
        $hash = $len;
        for ($i = 0; $i < $len; $i++) $hash = (($hash << 5) ^ ($hash >> 27)) ^ ord($string[$i]);
        return ($hash % 0xFFFFFFFF) & 0xFFFFFFFF;
    }

    public function FNVHash($string, $len = null)
    {
        $prime = 16777619;
        $hash = 2166136261;
        $len || $len = strlen($string);
        for ($i = 0; $i < $len; $i++) {
            $hash = (int) ($hash * $prime) % 0xFFFFFFFF;
            $hash ^= ord($string[$i]);
        }
        return ($hash % 0xFFFFFFFF) & 0xFFFFFFFF;
    }
}

abstract class TheirBloomFilterRedis
{
    protected $bucket, $hashFunction, $Hash, $Redis;

    public function __construct(Redis $redis)
    {
        $this->Hash = new BloomFilterHash;
        $this->Redis = $redis;
    }

    public function add($string)
    {
        $pipe = $this->Redis->multi();
        foreach ($this->hashFunction as $function) {
            $hash = $this->Hash->$function($string);
            $pipe->setBit($this->bucket, $hash, 1);
        }
        return $pipe->exec();
    }

    public function exists($string)
    {
        $pipe = $this->Redis->multi();
        $len = strlen($string);
        foreach ($this->hashFunction as $function) {
            $hash = $this->Hash->$function($string, $len);
            $pipe = $pipe->getBit($this->bucket, $hash);
        }
        foreach ($pipe->exec() as $bit) if ($bit == 0) return false;
        return true;
    }
}
