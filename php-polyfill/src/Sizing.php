<?php
namespace Bloomfilter\Polyfill;

/** Derives m, n, k and p from each other, as the extension does.  Of a filter that grows: the sizes of its parts. */
final class Sizing
{
    public const MOST_M = 1 << 40;
    private const MOST_K = 4096;
    private const LN2 = 0.69314718055994530942;

    /** The scheme that is named; if none is, or hashes64: the default. */
    public static function schemeOf(Spec $spec): string
    {
        if ($spec->scheme !== null && $spec->scheme !== 'hashes64') return $spec->scheme;
        $lines = $spec->m || !$spec->n || !$spec->p ? 0 : ($spec->p >= 1e-3 ? 1 : 2);
        return ($spec->scheme ? 'hashes64-' : '') . ['classic', 'block', 'block2'][$spec->k <= 16 * $lines ? $lines : 0];
    }

    private static function enough(Spec $spec): bool
    {
        return ($spec->m && $spec->n) || ($spec->n && $spec->p) || ($spec->m && $spec->p) || ($spec->m && $spec->k);
    }

    /** Is a size given, with what the scheme fixes?  Also where fixed() refuses it. */
    public static function suffices(Spec $spec): bool
    {
        if (self::enough($spec) || $spec->scheme === null) return self::enough($spec);
        try {
            return self::enough(self::given(Scheme::find(self::schemeOf($spec)), $spec));
        } catch (\ValueError) {
            return true;
        } catch (\BloomFilterException) {
            return false;
        }
    }

    public static function checkRanges(Spec $spec): void
    {
        foreach (['m' => self::MOST_M, 'k' => self::MOST_K, 'shards' => 4096] as $name => $most) {
            if ($spec->$name > $most) throw Fault::refuse($name, $spec->$name);
            if ($name === 'k' && $spec->p && !($spec->p > 0 && $spec->p < 1)) throw Fault::refuseReal('p', $spec->p);
        }
    }

    /** The spec with what the scheme fixes, or has by default. */
    private static function given(Scheme $s, Spec $spec): Spec
    {
        $all = clone $spec;
        $all->k = $all->k ?: $s->k;
        $all->m = $all->m ?: $s->m;
        if (!$all->m && $all->n && !$all->p && $s->bitsPerKey) {
            if ($all->n > intdiv(self::MOST_M, $s->bitsPerKey))
                throw Fault::refuse('m', sprintf('%.0F', min($all->n * (float) $s->bitsPerKey, 18446744073709551615)));
            $all->m = $all->n * $s->bitsPerKey;
        }
        self::checkRanges($all);
        if ($all->k > $s->mostK && !$s->k)
            throw Fault::value('k must be 1 to %u for scheme %s, got %u', $s->mostK, $s->row, $all->k);
        if ($all->shards > 1 && !$s->native) throw Fault::value('shards must be 1 for scheme %s, got %u', $s->row, $all->shards);
        return $all;
    }

    /** A filter of fixed size.  $mostBits: those of one key in Redis; larger filters are cut into shards. */
    public static function fixed(Spec $asked, int $mostBits = 0): Params
    {
        $s = Scheme::find(self::schemeOf($asked));
        $spec = self::given($s, $asked);
        $d = new Params($s, $spec->m, $spec->n, $spec->k, $spec->p, $spec->shards ?: 1, $spec->counting);
        if (!self::enough($spec)) throw Fault::value('the size is not known: give m and n, n and p, m and k, or m and p');
        self::roundToLines($d);
        self::derive($d);
        self::roundToLines($d);
        if ($mostBits && !$spec->shards && $s->native && $d->bits() > $mostBits) {
            while (intdiv($d->bits(), $d->shards) > $mostBits - 512 * $d->cellBits()) $d->shards *= 2;
            self::roundToLines($d);
        }
        $s->checkLimits($d->m, $d->k);
        self::settleP($d);
        return $d;
    }

    private static function rate(Params $d, float $m, float $n): float { return Rates::of($d->scheme, $m, $n, $d->k); }

    private static function derive(Params $d): void
    {
        if ($d->m && $d->n) {
            $d->k = $d->k ?: self::kFromMN($d);
        } elseif ($d->n) {
            self::mFromNP($d);
        } elseif ($d->p) {
            self::nFromMP($d);
        } else {
            $d->n = (int) max(floor($d->m / $d->k * self::LN2), 1);
        }
    }

    private static function kFromMN(Params $d): int
    {
        $k = ceil($d->m / $d->n * self::LN2);
        $k = $d->scheme->line > 1 ? min($k, $d->scheme->mostK) : $k;
        if ($k > self::MOST_K)
            throw Fault::value('k must be 1 to %d, got %.0F from m=%d, n=%d (m/n ln 2): give k, or a smaller m', self::MOST_K, $k, $d->m, $d->n);
        return (int) $k;
    }

    /** Bits per key that reach a rate: it falls as c grows. */
    private static function bitsFor(string $row, float $p, int $k): float
    {
        $low = 1e-3;
        $high = $k / self::LN2;
        while (Rates::layout($row, $high, $k) > $p && $high < self::MOST_M) {
            $low = $high;
            $high *= 2;
        }
        for ($i = 0; $i < 60 && $high - $low > 1e-9 * $high; $i++) {
            $c = ($low + $high) / 2;
            Rates::layout($row, $c, $k) > $p ? $low = $c : $high = $c;
        }
        return $high;
    }

    /** @return array{int, float} the k that needs the fewest bits, and these: from log2(1/p) both ways */
    private static function best(Scheme $s, float $p): array
    {
        static $known = [];
        $found = &$known[$s->layout][(string) unpack('q', pack('d', $p))[1]];
        if ($found) return $found;
        $at = (int) min(max(floor(-log($p, 2) + 0.5), 1), $s->mostK);
        $c = self::bitsFor($s->layout, $p, $at);
        foreach ([-1, 1] as $way) {
            while ($at + $way >= 1 && $at + $way <= $s->mostK && ($other = self::bitsFor($s->layout, $p, $at + $way)) < $c) {
                $c = $other;
                $at += $way;
            }
        }
        return $found = [$at, $c];
    }

    private static function mFromNP(Params $d): void
    {
        $s = $d->scheme;
        $p = Rates::left($s, $d->p, (float) $d->n);
        if (!($p > 0)) throw self::belowFloor($d);
        $anyK = !$d->k;
        [$d->k, $c] = $d->k ? [$d->k, self::bitsFor($s->layout, $p, $d->k)] : self::best($s, $p);
        $m = ceil($c * $d->n);
        if (!Rates::isFormula($s)) $m = self::cellsFor($d, $m);
        if ($s->line === 1) while ($m < Rates::SMALL && Rates::small($m, (float) $d->n, $d->k) > $d->p) $m++;
        if (!($m <= $s->largestM())) {
            $d->k = $anyK ? 0 : $d->k;
            throw self::beyondMost($d, $m);
        }
        $d->m = (int) $m;
    }

    /** The fewest cells, at least m, that keep p. */
    private static function cellsFor(Params $d, float $m): float
    {
        $low = $m - 1;
        $high = $m;
        while ($high <= self::MOST_M && self::rate($d, $high, (float) $d->n) > $d->p) {
            $low = $high;
            $high = ceil($high * 1.01);
        }
        while (($middle = floor(($low + $high) / 2)) > $low && $middle < $high)     // beyond 2^53 doubles are more than 1 apart
            self::rate($d, $middle, (float) $d->n) > $d->p ? $low = $middle : $high = $middle;
        return $high;
    }

    /** @return array{int, float} k and the lowest rate at n keys, with the largest m */
    private static function lowestRate(Params $of): array
    {
        $d = clone $of;
        [$bestK, $best] = [0, 2.0];
        for ($k = $of->k ?: 1; $k <= ($of->k ?: $d->scheme->mostK) && ($best > 1 || $k <= $bestK + 2) && $best > $d->p; $k++) {
            $d->k = $k;
            $rate = self::rate($d, (float) $d->scheme->largestM(), (float) $d->n);
            [$bestK, $best] = $rate < $best ? [$k, $rate] : [$bestK, $best];
        }
        return [$bestK, $best];
    }

    private static function belowFloor(Params $d): \ValueError
    {
        return Fault::value('p=%g is not possible: scheme %s confuses keys at a rate of %.4g at n=%d, its hash has %d values: '
            . 'give a larger p, or fewer keys', $d->p, $d->scheme->row, self::lowestRate($d)[1], $d->n, $d->scheme->values);
    }

    private static function beyondMost(Params $d, float $m): \ValueError
    {
        $s = $d->scheme;
        if (Rates::isFormula($s) && !$s->mostM)
            return Fault::value('n=%d at p=%g needs m=%.4g bits as scheme %s: m must be 1 to %d', $d->n, $d->p, $m, $s->row, $s->largestM());
        [$k, $lowest] = self::lowestRate($d);
        return Fault::value('p=%g is not possible: scheme %s with k=%u has a rate of %.4g at n=%d even with its largest m=%d: give a larger p',
            $d->p, $s->row, $k, $lowest, $d->n, $s->largestM());
    }

    private static function nFromMP(Params $d): void
    {
        [$d->k, $c] = $d->k ? [$d->k, self::bitsFor($d->scheme->layout, $d->p, $d->k)] : self::best($d->scheme, $d->p);
        $n = floor($d->m / $c);
        if (!Rates::isFormula($d->scheme) && !($n >= 1 && self::rate($d, (float) $d->m, $n) <= $d->p)) {
            for ($low = 0.0, $high = $n + 1; ($middle = floor(($low + $high) / 2)) > $low && $middle < $high;)
                self::rate($d, (float) $d->m, $middle) <= $d->p ? $low = $middle : $high = $middle;
            $n = $low;
        }
        if ($n < 1)
            throw Fault::value('m=%d bits are too few for p=%g: one key needs %.0F as scheme %s', $d->m, $d->p, ceil($c), $d->scheme->row);
        $d->n = (int) $n;
    }

    private static function roundToLines(Params $d): void
    {
        $step = $d->scheme->step($d->shards);
        $d->m = intdiv($d->m + $step - 1, $step) * $step;
        if ($d->m > self::MOST_M) throw Fault::refuse('m', $d->m);
    }

    private static function settleP(Params $d): void
    {
        $p = self::rate($d, (float) $d->m, (float) $d->n);
        if (!$d->p) {
            $d->p = min(max($p, PHP_FLOAT_MIN), 1 - PHP_FLOAT_EPSILON / 2);
        } elseif ($p > $d->p * (1 + 1e-6)) {
            throw $d->p < Rates::sameValue($d->scheme, (float) $d->n) ? self::belowFloor($d)
                : Fault::value('p=%g is not possible: m=%d, n=%d, k=%u give a rate of %.4g as scheme %s', $d->p, $d->m, $d->n, $d->k, $p, $d->scheme->row);
        }
    }

    // ---- filters that grow: docs/design.md, 'Many parts' ----

    public static function any(Spec $spec, int $mostBits = 0): Params
    {
        if (!$spec->grow) return self::fixed($spec, $mostBits);
        if (!$spec->n || !$spec->p === !$spec->m)
            throw Fault::value('grow needs n and p, or m and n: sizes follow from the rate to keep');
        self::checkRanges($spec);
        $d = self::fixed($spec, $mostBits);
        if ($spec->m) { // m and n give the rate, from which all sizes follow
            $byRate = clone $spec;
            [$byRate->m, $byRate->p, $byRate->scheme] = [0, $d->p, $d->scheme->name];
            $d = self::fixed($byRate, $mostBits);
        }
        [$d->kind, $d->grow, $d->live] = [Params::GROW, $spec->grow, 1];
        if (!$spec->k) {
            $k = self::best($d->scheme, $d->p / 8)[0];
            $d->k = $d->scheme->layout === 'block' && ($k === 9 || $k === 10) ? 8 : $k;
        }
        if (!$d->scheme->native)
            throw Fault::value('scheme %s can neither grow nor forget: classic, block and block2 can', $d->scheme->name);
        return $d;
    }

    /** Part i, which follows $before bits; null: no more bits fit. */
    public static function part(Params $d, int $i, int $before): ?Params
    {
        $part = $d->part($i);
        $equal = $d->grow === 1.0;
        for ($harmonic = 0.0, $j = 1; $j <= 256; $j++) $harmonic += 1.0 / $j;
        $factor = min(max($d->grow, 1.0905), 16.0);
        $weight = fn(float $total) => pow(($t = log($total / 0x4000000, 2)) < 0 ? 0.7 : 0.75, abs($t));
        $sum = $weight((float) self::MOST_M);
        for ($at = (float) $d->m; $at <= self::MOST_M; $at *= $factor) $sum += $weight($at);
        if ($i === 0) {
            $spec = new Spec;
            [$spec->n, $spec->p, $spec->k, $spec->scheme] = [$d->n, $d->p * ($equal ? 1 / $harmonic : $weight((float) $d->m) / $sum), $d->k, $d->scheme->name];
            $first = self::fixed($spec);
            [$part->m, $part->p] = [$first->m, $first->p];
        } elseif ($equal) {
            $part->m = max(intdiv($before, $i), 262144);
            $part->p = $d->p * (1 / $harmonic / ($i + 1));
            $part->n = (int) max(floor($part->m / self::bitsFor($d->scheme->layout, $part->p, $d->k)), 1);
        } else {
            $least = max($before + 262144.0, $before * max(sqrt($factor), 1.0905));
            for ($share = 0.0, $total = 0.0, $at = (float) $d->m; $at <= self::MOST_M && !$total; $at *= $factor) {
                $share += $at >= $before + 512 ? $weight($at) / $sum : 0;
                $total = $at >= $least ? $at : 0.0;
            }
            if (!$total && $before + 262144 > self::MOST_M) return null;
            $share += $total ? 0 : $weight((float) self::MOST_M) / $sum;
            $part->m = intdiv((int) ($total ?: self::MOST_M) - $before, 512) * 512;
            $part->p = $d->p * $share;
            $part->n = (int) max(floor($part->m / self::bitsFor($d->scheme->layout, $part->p, $d->k)), 1);
        }
        $part->m = intdiv($part->m + 511, 512) * 512;
        return $part->m + $before <= self::MOST_M ? $part : null;
    }

    private static function near(float $have, float $want, float $slack): bool
    {
        return abs($have - $want) <= $slack + 1e-6 * $want;
    }

    /** Do these stored parameters follow from n, p and k? */
    public static function possible(Params $d): bool
    {
        $spec = new Spec;
        [$spec->n, $spec->p, $spec->scheme, $spec->grow] = [$d->n, $d->p, $d->scheme->name, $d->grow];
        foreach ($d->p > 0 && $d->p < 1 ? [$d->k, 0] : [] as $spec->k) {
            try {
                $want = self::any($spec);
            } catch (\ValueError) {
                continue;
            }
            if ($want->k === $d->k && self::near($d->m, $want->m, 512)) return true;
        }
        return false;
    }

    public static function partPossible(Params $of, Params $part): bool
    {
        if ($part->m % 512 || !($part->p > 0 && $part->p <= $of->p) || ($part->index === 0 && $part->n !== $of->n)) return false;
        $bits = self::bitsFor($of->scheme->layout, $part->p, $part->k);
        $keys = $part->m / $bits;
        return $part->index ? self::near($part->n, max(floor($keys), 1), 1)
            : $part->n <= $keys * (1 + 1e-6) + 1 && $part->m <= 1.13 * $part->n * $bits + 1024;
    }
}
