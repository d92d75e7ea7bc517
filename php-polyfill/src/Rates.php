<?php
namespace Bloomfilter\Polyfill;

/** False-positive rates, and how many keys set so many bits: the extension's formulas, step by step, so that the doubles are equal. */
final class Rates
{
    /** Below this m a classic filter's rate is above its formula. */
    public const SMALL = 65536;
    private const EXACT = 256;

    /** Rate of the layout at c bits per key. */
    public static function layout(string $row, float $c, int $k): float
    {
        if ($row === 'block') return self::line(512 / $c, $k / 512.0, $k);
        if ($row !== 'block2') return self::power(-expm1(-$k / $c), $k);
        $share = $k / 2.0 / 512;
        $a = self::line(1024 / $c, $share, intdiv($k + 1, 2));
        return $k % 2 ? $a * self::line(1024 / $c, $share, intdiv($k, 2)) : $a * $a;
    }

    private static function power(float $x, int $k): float
    {
        for ($r = 1.0; $k; $k >>= 1, $x *= $x) if ($k & 1) $r *= $x;
        return $r;
    }

    /** A line has i keys with the probability Poisson(i; lambda); each sets a given bit with the chance $share. */
    private static function line(float $lambda, float $share, int $bits): float
    {
        if ($lambda > 700) return self::power(-expm1($lambda * log1p(-$share)), $bits);
        $chance = exp(-$lambda);
        $clear = 1.0;
        $sum = 0.0;
        for ($i = 0; $i < 4096; $i++) {
            $x = 1 - $clear;
            for ($r = 1.0, $k = $bits; $k; $k >>= 1, $x *= $x) if ($k & 1) $r *= $x;
            $sum += $chance * $r;
            if ($i > $lambda && $chance < 1e-16 * $sum) break;
            $chance *= $lambda / ($i + 1);
            $clear *= 1 - $share;
        }
        return $sum;
    }

    /** Mean number of different bits that a key sets: past 8 bits in a line, 1 in 64 coincides. */
    public static function distinct(string $row, int $k): float
    {
        if ($row === 'block2') return self::distinct('block', intdiv($k + 1, 2)) + self::distinct('block', intdiv($k, 2));
        return $row !== 'block' || $k <= 8 ? $k : $k - ($k - 8) / 64.0;
    }

    /** A small classic filter: exact for few bits, else to second order. */
    public static function small(float $m, float $n, int $k): float
    {
        if ($m <= self::EXACT && $n * $k < 4 * self::EXACT) return self::exact((int) $m, (int) $n * $k, $k);
        $one = pow(1 - 1 / $m, $k * $n);
        $two = pow(1 - 2 / $m, $k * $n);
        $f = 1 - $one;
        $variance = (($m - 1) * $two + $one - $m * $one * $one) / $m;
        return self::power($f, $k) * (1 + $k * ($k - 1.0) / 2 * ($variance > 0 ? $variance : 0) / ($f * $f));
    }

    private static function exact(int $m, int $throws, int $k): float
    {
        $at = array_fill(0, $m + 2, 0.0);
        $at[0] = 1.0;
        for ($t = 0; $t < $throws; $t++) {
            for ($x = min($t, $m); $x >= 0; $x--) {
                $at[$x + 1] += $at[$x] * ($m - $x) / $m;
                $at[$x] *= $x / $m;
            }
        }
        for ($rate = 0.0, $x = 1; $x <= $m; $x++) $rate += $at[$x] * self::power($x / $m, $k);
        return $rate;
    }

    // ---- schemes whose hash has few values ----

    public static function sameValue(Scheme $s, float $n): float { return $s->values ? -expm1(-$n / $s->values) : 0.0; }

    public static function isFormula(Scheme $s): bool { return $s->native || $s->row === 'gozero'; }

    /** The part of p that is left for the filter. */
    public static function left(Scheme $s, float $p, float $n): float
    {
        $same = self::sameValue($s, $n);
        return $same > 0 ? ($p - $same) / (1 - $same) : $p;
    }

    public static function of(Scheme $s, float $m, float $n, int $k): float
    {
        if (!($n > 0)) return 0.0;
        if ($s->functions) {
            $rate = 1.0;
            foreach ($s->functions as $i => $name) {
                $other = -expm1(-$n / PhpHashes::TABLE[$name][0]);
                $rate *= $other + (1 - $other) * self::fillOfHashes($s, $m, $n, $i);
            }
        } elseif ($s->range && $m > $s->range / 64) {
            $rate = pow(self::fillOfRange($s->range, $m, $n, $k, true), $k);
        } else {
            $rate = self::layout($s->layout, $m / $n, $k);
        }
        $same = self::sameValue($s, $n);
        return $same > 0 ? 1 - (1 - $rate) * (1 - $same) : $rate;
    }

    private static function fillOfHashes(Scheme $s, float $m, float $n, ?int $but): float
    {
        $clear = 0.0;
        foreach ($s->functions as $i => $name) {
            [$values, $near] = PhpHashes::TABLE[$name];
            if ($i !== $but && ($but === null || $near & PhpHashes::TABLE[$s->functions[$but]][1]))
                $clear += log1p(-min($values * -expm1(-$n / $values) / $m, 1.0));
        }
        return -expm1($clear);
    }

    /** The first cells take one number more of a range that m does not divide. */
    private static function fillOfRange(float $range, float $m, float $n, int $k, bool $asPositionsFall): float
    {
        $each = floor($range / $m);
        $more = $range - $each * $m;
        $keys = $n * $k / $range;
        $here = $more * -expm1(-$keys * ($each + 1));
        $there = ($m - $more) * -expm1(-$keys * $each);
        return $asPositionsFall ? ($here * ($each + 1) + $there * $each) / $range : ($here + $there) / $m;
    }

    private static function keysOf(Scheme $s, float $m, float $ones, int $k): float
    {
        $fill = fn(float $n) => match (true) {
            (bool) $s->functions => self::fillOfHashes($s, $m, $n, null),
            $s->range && $m > $s->range / 64 => self::fillOfRange($s->range, $m, $n, $k, false),
            default => -expm1(-$n * self::distinct($s->layout, $k) / $m),
        };
        $low = 0.0;
        for ($high = 1.0; $high < PHP_INT_MAX && $fill($high) * $m < $ones;) $high *= 2;
        for ($i = 0; $i < 60 && $high - $low > 1e-9 * $high; $i++) {
            $middle = ($low + $high) / 2;
            $fill($middle) * $m < $ones ? $low = $middle : $high = $middle;
        }
        return $high;
    }

    /** @return array{ones: int, fill: float, count: float, fpr: float} what so many set cells say */
    public static function estimate(Params $d, int $ones): array
    {
        $m = (float) $d->m;
        $zeros = $ones < $d->m ? (float) ($d->m - $ones) : 0.5;
        $count = match (true) {
            $ones === 0 => 0.0,
            self::isFormula($d->scheme) => -$m / self::distinct($d->scheme->layout, $d->k) * log($zeros / $m),
            default => self::keysOf($d->scheme, $m, min((float) $ones, $m - $zeros), $d->k),
        };
        $fpr = match ($ones) {
            $d->m => 1.0,
            0 => 0.0,
            default => self::of($d->scheme, $m, $count, $d->k),
        };
        return ['ones' => $ones, 'fill' => $ones / $m, 'count' => $count, 'fpr' => $fpr];
    }
}
