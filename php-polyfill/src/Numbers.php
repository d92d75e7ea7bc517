<?php
namespace Bloomfilter\Polyfill;

/**
 * Unsigned 64-bit arithmetic on PHP's signed integers.  A sum or product that overflows would become a float: so
 * numbers are cut into pieces whose products stay below 2^63, and << drops what is above.
 */
final class Numbers
{
    public const LOW = 0xFFFFFFFF;

    /** The upper 64 bits of h * m, where m is at most 2^40: h in pieces of 22, 21 and 21 bits. */
    public static function mulhi(int $h, int $m): int
    {
        $low = ($h >> 21 & 0x1FFFFF) * $m + (($h & 0x1FFFFF) * $m >> 21);
        return ($h >> 42 & 0x3FFFFF) * $m + ($low >> 21) >> 22;
    }

    /**
     * Upper half XOR lower half of h * 0x9E3779B97F4A7C15.  With halves h = a 2^32 + b and the constant
     * (2^32 - 0x61C88647) 2^32 + 0x7F4A7C15 all products fit.  BlockFilter has the same lines.
     */
    public static function mum1(int $h): int
    {
        $b = $h & self::LOW;
        $a = $h >> 32 & self::LOW;
        $low = $b * 0x7F4A7C15;
        $mid = ($low >> 32) + $a * 0x7F4A7C15 - $b * 0x61C88647;
        return (($h ^ PHP_INT_MIN) - $a * 0x61C88647 + ($mid >> 32)) ^ PHP_INT_MIN ^ ($mid << 32 | $low & self::LOW);
    }

    /** The same for 0xE7037ED1A0B428DB, which is 2^64 - 0x18FC812E5F4BD725. */
    public static function mum2(int $h): int
    {
        $b = $h & self::LOW;
        $a = $h >> 32 & self::LOW;
        $low = $b * 0x5F4BD725;
        $mid = ($low >> 32) + $a * 0x5F4BD725 + $b * 0x18FC812E;
        $low = $mid << 32 | $low & self::LOW;
        $high = (($h ^ PHP_INT_MIN) - ($a * 0x18FC812E + ($mid >> 32)) - (int) ($low !== 0)) ^ PHP_INT_MIN;
        return $high ^ ($low === PHP_INT_MIN ? $low : -$low);
    }

    /** a + b modulo 2^64. */
    public static function add(int $a, int $b): int
    {
        $low = ($a & self::LOW) + ($b & self::LOW);
        return ($a >> 32) + ($b >> 32) + ($low >> 32) << 32 | $low & self::LOW;
    }

    /** a * b modulo 2^64, where b is at most 2^16. */
    public static function times(int $a, int $b): int
    {
        $low = ($a & self::LOW) * $b;
        return ($a >> 32 & self::LOW) * $b + ($low >> 32) << 32 | $low & self::LOW;
    }

    /** Unsigned a modulo m, where m is at most 2^40. */
    public static function modulo(int $a, int $m): int
    {
        $rest = ($a >> 32 & self::LOW) % $m;
        $rest = ($rest << 16 | $a >> 16 & 0xFFFF) % $m;
        return ($rest << 16 | $a & 0xFFFF) % $m;
    }

    /** A random number from 1 to 2^32 - 1 that leaves the program's generators alone. */
    public static function random(): int { return random_int(1, self::LOW); }
}
