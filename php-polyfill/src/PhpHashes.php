<?php
namespace Bloomfilter\Polyfill;

/** Scheme php-hashes: the hash functions of a PHP class, computed as that class does, overflow to float included. */
final class PhpHashes
{
    /** Number of different values; the sixteenths of 2^32 in which they are; are URLs or numbers often of one value? */
    public const TABLE = [
        'JS' => [4294967296.0, 0xFFFF, false], 'PJW' => [7.48e8, 1 << 3 | 1 << 6, true], 'ELF' => [1.51e8, 1, true],
        'BKDR' => [7.58e8, 0xFFFF, true], 'SDBM' => [4294967296.0, 0xFFFF, true], 'DJB' => [4294967296.0, 0xFFFF, true],
        'DEK' => [4294967296.0, 0xFFFF, true], 'FNV' => [4294967296.0, 0xFFFF, false], 'RS' => [17.0, 0xFFFF, true],
        'AP' => [4294967296.0, 0xFFFF, false],
    ];
    /** @return list<string> */
    public static function names(?string $text): array
    {
        $known = implode(', ', array_keys(self::TABLE));
        if ($text === null)
            throw Fault::value('scheme php-hashes needs names after a colon, of %s: php-hashes:BKDR,SDBM,JS', $known);
        $given = explode(',', $text);
        $names = preg_replace('/.\KHash$/D', '', $given);              // as in older code: BKDRHash
        foreach ($names as $i => $name) {
            if (!isset(self::TABLE[$name]))
                throw Fault::value('a name after php-hashes: must be one of %s, got %.40s', $known, $given[$i]);
            if (array_search($name, $names, true) !== $i)
                throw Fault::value('scheme php-hashes names %s twice', $name);
        }
        return $names;
    }

    /**
     * @param list<string> $names
     * @return list<int> one digest of 32 bits per name
     */
    public static function digests(array $names, string $key): array
    {
        $bytes = $key === '' ? [] : unpack('C*', $key);
        $digests = [];
        foreach ($names as $name) $digests[] = self::int(@self::$name($bytes)) % 4294967295 & Numbers::LOW;
        return $digests;
    }

    /** A float as int, modulo 2^64: bit operators of PHP before 8.5 do the same, with a deprecation where it has a fraction. */
    private static function int(int|float $v): int
    {
        if (is_int($v) || abs($v) < 9.2e18) return (int) $v;
        if (!is_finite($v)) return 0;
        $rest = fmod($v, 18446744073709551616.0);
        $high = (int) floor($rest / 4294967296.0);
        return $high << 32 | (int) ($rest - $high * 4294967296.0);
    }

    private static function JS(array $bytes): int
    {
        $h = 1315423911;
        foreach ($bytes as $c) $h ^= self::int(($h << 5) + $c + ($h >> 2));
        return $h;
    }

    private static function PJW(array $bytes): int|float
    {
        $high = 0xFFFFFFFF << 28;
        $h = 0;
        foreach ($bytes as $c) $h = (self::int($h) << 4) + $c;
        $test = self::int($h) & $high;
        return $test ? (self::int($h) ^ $test >> 24) & ~$high : $h;
    }

    private static function ELF(array $bytes): int
    {
        $h = 0;
        foreach ($bytes as $c) {
            $h = self::int(($h << 4) + $c);
            $x = $h & 0xF0000000;
            $h = ($x ? $h ^ $x >> 24 : $h) & ~$x;
        }
        return $h;
    }

    private static function BKDR(array $bytes): int
    {
        $h = 0;
        foreach ($bytes as $c) $h = self::int($h * 131 + $c);
        return $h;
    }

    private static function SDBM(array $bytes): int
    {
        $h = 0;
        foreach ($bytes as $c) $h = self::int($c + ($h << 6) + ($h << 16) - $h);
        return $h;
    }

    private static function DJB(array $bytes): int|float
    {
        $h = 5381;
        foreach ($bytes as $c) $h = self::int((self::int($h) << 5) + $h) + $c;
        return $h;
    }

    private static function DEK(array $bytes): int
    {
        $h = count($bytes);
        foreach ($bytes as $c) $h = $h << 5 ^ $h >> 27 ^ $c;
        return $h;
    }

    private static function FNV(array $bytes): int
    {
        $h = 2166136261;
        foreach ($bytes as $c) $h = $h * 16777619 % 4294967295 ^ $c;
        return $h;
    }

    private static function RS(array $bytes): int
    {
        $h = 0;
        $a = 63689;
        foreach ($bytes as $c) {
            $h = self::int($h * $a + $c);
            $a = self::int($a * 378551);
        }
        return $h;
    }

    private static function AP(array $bytes): int
    {
        $h = 0xAAAAAAAA;
        foreach (array_values($bytes) as $i => $c)
            $h ^= $i % 2 ? ~(self::int(($h << 11) + $c) ^ $h >> 5) : $h << 7 ^ self::int($c * ($h >> 3));
        return $h;
    }
}
