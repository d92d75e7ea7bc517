<?php
namespace Bloomfilter\Polyfill;

/** Whole bitmaps, as strings. */
final class Bits
{
    /** Set bits, or counters above 0. */
    public static function ones(string $bits, bool $counting): int
    {
        static $table = [];
        if (!$table) for ($i = 0; $i < 256; $i++) $table[$i] = [substr_count(decbin($i), '1'), (int) ($i > 15) + (int) (($i & 15) > 0)];
        $ones = 0;
        foreach (count_chars($bits, 1) as $byte => $n) $ones += $n * $table[$byte][(int) $counting];
        return $ones;
    }

    /** Adds counters up, or takes the lesser; bits: OR, AND. */
    public static function combine(string $a, string $b, bool $unite, bool $counting): string
    {
        if (!$counting) return $unite ? $a | $b : $a & $b;
        $how = $unite ? fn(int $x, int $y) => min($x + $y, 15) : min(...);
        for ($i = 0, $n = strlen($a); $i < $n; $i++) {
            if ($a[$i] === "\0" && $b[$i] === "\0") continue;
            [$x, $y] = [ord($a[$i]), ord($b[$i])];
            $a[$i] = chr($how($x >> 4, $y >> 4) << 4 | $how($x & 15, $y & 15));
        }
        return $a;
    }

    /** Are all bits of a in b, is no counter above b's? */
    public static function within(string $a, string $b, bool $counting): bool
    {
        return self::combine($a, $b, false, $counting) === $a;
    }

    /** A bit for each counter, whether it is above 0. */
    public static function ofCounters(string $counters): string
    {
        $bits = '';
        foreach (str_split(str_pad($counters, strlen($counters) + 3 & ~3, "\0"), 4) as $four) {
            for ($byte = 0, $i = 0; $i < 8; $i++) $byte |= (ord($four[$i >> 1]) >> ($i & 1 ? 0 : 4) & 15) > 0 ? 0x80 >> $i : 0;
            $bits .= chr($byte);
        }
        return $bits;
    }
}
