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
        $sum = ['ones' => 0, 'fill' => 0.0, 'count' => 0.0, 'fpr' => 0.0];
        $clean = 1.0;
        foreach ($f->parts as $part) {
            $one = Rates::estimate($part->d, $part->ones());
            $sum['ones'] += $one['ones'];
            $sum['count'] += $one['count'];
            $clean *= 1 - $one['fpr'];
        }
        $sum['fill'] = $sum['ones'] / $f->m();
        $sum['fpr'] = \count($f->parts) === 1 ? $one['fpr'] : 1 - $clean;
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

    public static function saturated(Filter $f): int
    {
        return self::of($f)['saturated'];
    }

    /** @return array{bool, int} is it overfull?  Keys that may be added before the next check */
    public static function keysToWait(Filter $f): array
    {
        $state = self::of($f);
        $last = end($f->parts)->d;
        $keys = $last->m / $last->k;
        $wait = $f->d->kind === Params::GROW ? max($last->n - $last->live, $last->n / 64, 1)
            : max((0.5 - $state['fill']) * $keys, self::mostKeys($last) - $state['count'], $keys / 64);
        return [$state['saturated'] === self::OVERFULL, (int) min($wait, 9e18)];
    }

    /** For how many keys there is room, as far as the bits tell; in a filter that grows, the keys until the next check. */
    public static function roomLeft(Filter $f): int
    {
        if ($f->d->kind === Params::FIXED) return max(0, $f->d->n - (int) min(floor(self::of($f)['count'] + 0.5), 9e18));
        [$overfull, $wait] = self::keysToWait($f);
        return $overfull ? 0 : $wait;
    }

    public static function warnOfWeakHash(Filter $f): void
    {
        $weak = array_filter($f->d->scheme->functions, fn(string $name) => PhpHashes::TABLE[$name][2]);
        if ($weak && Capacity::warns($f))
            trigger_error(sprintf('scheme php-hashes: many URLs or numbers have the same value of %s, so the rate of false positives is far above p; '
                . 'use it only for a bitmap that another system fills, or set bloomfilter.warn=0', implode(', ', $weak)), E_USER_WARNING);
    }
}
