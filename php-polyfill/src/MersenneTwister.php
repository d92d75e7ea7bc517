<?php
namespace Bloomfilter\Polyfill;

/** Schemes php-mt and php-mt-legacy: mt_srand(crc32(key)), then mt_rand(0, m - 1), without PHP's own generator. */
final class MersenneTwister
{
    /** @return list<int> */
    public static function draw(int $seed, int $m, int $k, bool $legacy): array
    {
        $positions = [];
        $next = self::generator($seed, $legacy);
        for ($j = 0; $j < $k; $j++)
            $positions[] = $legacy ? (int) ($m * (($next() >> 1) / 2147483648.0))
                : ($m <= 1 << 32 ? self::below32($next, $m) : self::below64($next, $m));
        return $positions;
    }

    private static function below32(\Closure $next, int $m): int
    {
        $r = $next();
        if (($m & $m - 1) === 0) return $r & $m - 1;
        for ($last = Numbers::LOW - Numbers::LOW % $m - 1; $r > $last; $r = $next());
        return $r % $m;
    }

    /** Two draws for one number, the low half first. */
    private static function below64(\Closure $next, int $m): int
    {
        $draw = fn() => $next() | $next() << 32;
        $r = $draw();
        if (($m & $m - 1) === 0) return $r & $m - 1;
        $last = -2 - Numbers::modulo(-1, $m);      // the last multiple of m below 2^64, as unsigned
        for (; ($r ^ PHP_INT_MIN) > ($last ^ PHP_INT_MIN); $r = $draw());
        return Numbers::modulo($r, $m);
    }

    /** From 8.2 on PHP has it as an object, which takes a twentieth of the time. */
    private static function generator(int $seed, bool $legacy): \Closure
    {
        if (!$legacy && class_exists(\Random\Engine\Mt19937::class, false)) {
            $engine = new \Random\Engine\Mt19937($seed);
            return function () use ($engine) {
                $bytes = $engine->generate();
                return unpack('V', $bytes)[1];
            };
        }
        return self::ownGenerator($seed, $legacy);
    }

    /** Seeds no more words of the state than are drawn from. */
    private static function ownGenerator(int $seed, bool $legacy): \Closure
    {
        $s = [$seed];
        $at = 0;
        return function () use (&$s, &$at, $legacy) {
            for ($i = count($s); $i < 624 && $i <= $at + 397; $i++) {
                $x = $s[$i - 1] ^ $s[$i - 1] >> 30;       // times 1812433253, below 2^63
                $s[] = $x * 1812433253 + $i & Numbers::LOW;
            }
            $u = $s[$at];
            $after = ($at + 1) % 624;
            $low = ($legacy ? $u : $s[$after]) & 1;
            $y = $s[$at] = $s[($at + 397) % 624] ^ ($u & 0x80000000 | $s[$after] & 0x7FFFFFFF) >> 1 ^ ($low ? 0x9908B0DF : 0);
            $at = $after;
            $y ^= $y >> 11;
            $y ^= $y << 7 & 0x9D2C5680;
            $y ^= $y << 15 & 0xEFC60000;
            return $y ^ $y >> 18;
        };
    }
}
