<?php
namespace Bloomfilter\Polyfill;

/** What is in a filter: counts of bits and keys, rates, whether it is over full. */
final class State
{
    public const HALF_FULL = 1;
    public const OVERFULL = 2;

    /** @return array{ones: int, fill: float, count: float, fpr: float, saturated: int} */
    public static function of(Filter $f): array
    {
        $f->follow();
        return self::sum($f, fn(Part $part) => $part->ones());
    }

    private static function sum(Filter $f, \Closure $onesOf): array
    {
        $sum = ['ones' => 0, 'fill' => 0.0, 'count' => 0.0, 'fpr' => 0.0];
        $clean = 1.0;
        foreach ($f->parts as $part) {
            $one = Rates::estimate($part->d, $onesOf($part));
            $sum['ones'] += $one['ones'];
            $sum['count'] += $one['count'];
            $clean *= 1 - $one['fpr'];
        }
        $sum['fill'] = $sum['ones'] / $f->m();
        $sum['fpr'] = count($f->parts) === 1 ? $one['fpr'] : 1 - $clean;
        return $sum + ['saturated' => self::saturation($f, $sum)];
    }

    private static function mostKeys(Params $d): float { return 1.1 * $d->n + 10; }

    /** A filter with the best k is half full with n keys: only more than that is a reason to warn. */
    private static function saturation(Filter $f, array $state): int
    {
        if ($f->d->kind === Params::FIXED)
            return $state['fill'] <= 0.5 ? 0 : ($state['count'] < self::mostKeys($f->d) ? self::HALF_FULL : self::OVERFULL);
        $over = array_filter($f->parts, fn(Part $part) => $part->d->live > self::mostKeys($part->d));
        return $over && $state['fpr'] > 1.5 * $f->d->p ? self::OVERFULL : 0;
    }

    /** From a sample of at most 4096 lines. */
    private static function sampled(Filter $f): array
    {
        return self::sum($f, function (Part $part) {
            $all = $part->store instanceof Memory ? $part->store->getArrayCopy() : [];
            $step = intdiv(count($all), 4096);
            if ($step < 2) return $part->ones();
            for ($some = '', $i = 0; $i < 4096; $i++) $some .= $all[$i * $step];
            return (int) (Bits::ones($some, $part->d->counting) / (4096 * 512 / $part->d->cellBits()) * $part->d->m);
        });
    }

    public static function saturated(Filter $f): int
    {
        $f->follow();
        return self::sampled($f)['saturated'];
    }

    /** php.ini: there is no ini_set() for an extension that is not loaded. */
    private static function warns(Filter $f): bool
    {
        return $f->overfull() ? $f->overfull() === 'warn' : !in_array(get_cfg_var('bloomfilter.warn'), ['0', '', 'off', 'no', 'false'], true);
    }

    /** Others add to a filter in Redis too: there the next look is after n / 64 new keys at the latest. */
    private static function untilLook(Filter $f, int $wait): int
    {
        return max(1, $f->batch > 0 ? min($wait, intdiv(end($f->parts)->d->n, 64) + 1) : $wait);
    }

    /** Keys that may be added before the next look; null: it is overfull. */
    private static function keysToWait(Filter $f): ?int
    {
        $state = self::sampled($f);
        if ($state['saturated'] === self::OVERFULL) return null;
        $last = end($f->parts)->d;
        $keys = $last->m / $last->k;
        $wait = $f->d->kind === Params::GROW ? max($last->n - $last->live, $last->n / 64, 1)
            : max((0.5 - $state['fill']) * $keys, self::mostKeys($last) - $state['count'], $keys / 64);
        return (int) min($wait, 9e18);
    }

    /** For overfull: 'raise': the new keys until the next look. */
    public static function room(Filter $f): int
    {
        $left = &Filter::$untilCheck[spl_object_id($f)];
        if ($left > 0) return $left;
        $f->follow();
        $wait = self::keysToWait($f);
        if ($wait === null) {
            $left = 0;
            throw Fault::fail(\BloomFilterException::FULL,
                '%.40s holds more than the n=%d keys that it is sized for: clear it, rebuild it or create a larger one', $f->where(), $f->d->n);
        }
        return $left = self::untilLook($f, $wait);
    }

    public static function warnIfFull(Filter $f): void
    {
        $left = &Filter::$untilCheck[spl_object_id($f)];
        $left = $f->overfull() === 'raise' ? 0 : PHP_INT_MAX;
        if (!self::warns($f)) return;
        try {
            $wait = self::keysToWait($f);
        } catch (\Exception) {     // the keys are added, and a look that fails only does not warn
            $wait = PHP_INT_MAX;
        }
        if ($wait !== null) {
            $left = self::untilLook($f, $wait);
            return;
        }
        trigger_error(sprintf('BloomFilter: More than half of the %s of a filter sized for n=%d keys are set: it holds more keys, and '
            . 'false positives are rising; create a larger one, or set bloomfilter.warn=0', $f->d->cells(), $f->d->n), E_USER_WARNING);
    }

    public static function warnOfWeakHash(Filter $f): void
    {
        $weak = array_filter($f->d->scheme->functions, fn(string $name) => PhpHashes::TABLE[$name][2]);
        if ($weak && self::warns($f))
            trigger_error(sprintf('scheme php-hashes: many URLs or numbers have the same value of %s, so the rate of false positives is far above p; '
                . 'use it only for a bitmap that another system fills, or set bloomfilter.warn=0', implode(', ', $weak)), E_USER_WARNING);
    }
}
