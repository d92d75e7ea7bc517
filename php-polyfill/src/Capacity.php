<?php
namespace Bloomfilter\Polyfill;

/**
 * Counts the new keys of a filter.  After enough of them it checks whether the filter is overfull: then it warns, before anything is added, or with
 * overfull: 'raise' it refuses new keys.  core/keys/capacity.c.
 */
final class Capacity
{
    /** By the object's number, not as properties: == compares filters by their bits. New keys until the next check; with 'raise' those that have room. */
    public static array $left = [];
    /** No check follows; with 'raise': left is the result of a check. */
    private static array $checked = [];
    /** 'warn', 'raise' or 'ignore', where it was given. */
    private static array $overfull = [];

    public static function of(Filter $f): ?string { return self::$overfull[spl_object_id($f)] ?? null; }

    public static function start(Filter $f, ?string $overfull, bool $created): void
    {
        $id = spl_object_id($f);
        if ($overfull !== null) self::$overfull[$id] = $overfull;
        [self::$left[$id], self::$checked[$id]] = [match (true) { $overfull === 'raise' => 0, $created => $f->d->n, default => (int) ($f->batch > 0) }, false];
    }

    public static function end(Filter $f): void { unset(self::$left[$id = spl_object_id($f)], self::$checked[$id], self::$overfull[$id]); }

    /** The next add checks. */
    public static function checkSoon(Filter $f): void { [self::$left[$id = spl_object_id($f)], self::$checked[$id]] = [0, false]; }

    /** The next add checks, unless the filter has warned. */
    public static function merged(Filter $f): void
    {
        if (self::of($f) === 'raise' || !(self::$checked[spl_object_id($f)] ?? false)) self::checkSoon($f);
    }

    /** php.ini: there is no ini_set() for an extension that is not loaded. */
    public static function warns(Filter $f): bool
    {
        if (self::of($f)) return self::of($f) === 'warn';
        $setting = get_cfg_var('bloomfilter.warn');
        return !in_array($setting, ['0', '', 'off', 'no', 'false'], true);
    }

    /** Others add to a filter in Redis too: there the next check is after n / 64 new keys at the latest. */
    private static function untilCheck(Filter $f, int $most): int
    {
        $often = max(1, end($f->parts)->d->n >> 6);
        return $f->batch && $often < $most ? $often : $most;
    }

    /** Before a call that adds: warns if that is due. */
    public static function begin(Filter $f): void
    {
        $id = spl_object_id($f);
        if ((self::$left[$id] ?? 0) > 0 || self::of($f) === 'raise') return;
        self::$left[$id] = PHP_INT_MAX;
        if ((self::$checked[$id] ?? false) || !self::warns($f)) return;
        self::$checked[$id] = true;
        try {
            [$overfull, $wait] = Signals::held(fn() => State::keysToWait($f));
        } catch (\BloomFilterException $e) {          // it only warns, but "was re-created" is said once
            if ($e->getCode() === \BloomFilterException::LOST) {
                self::checkSoon($f);
                throw $e;
            }
            [$overfull, $wait] = [false, PHP_INT_MAX];
        }
        $wait = $wait ?: 1;
        if (!$overfull) [self::$left[$id], self::$checked[$id]] = [self::untilCheck($f, $wait), false];
        else trigger_error("BloomFilter: More than half of the {$f->d->cells()} of a filter sized for n={$f->d->n} keys are set: it holds more keys, and "
            . 'false positives are rising; create a larger one, or set bloomfilter.warn=0', E_USER_WARNING);
    }

    public static function countNew(Filter $f, int $new): void
    {
        $id = spl_object_id($f);
        if ($new && !(self::$checked[$id] ?? false)) self::$left[$id] = (self::$left[$id] ?? 0) - $new;
    }

    // ---- overfull: 'raise' ----

    /** Only adds and removals of this object change how many keys have room. */
    public static function countsRoom(Filter $f): bool { return self::of($f) === 'raise' && !$f->batch && $f->d->kind === Params::FIXED; }

    public static function giveRoom(Filter $f, int $keys): void { self::$left[spl_object_id($f)] += $keys; }

    private static function takeRoom(Filter $f, int $keys): int
    {
        $left = &self::$left[spl_object_id($f)];
        $taken = $left < 0 ? 0 : min($left, $keys);
        $left -= $taken;
        return $taken;
    }

    private static function reserve(Filter $f, int $keys): int
    {
        $id = spl_object_id($f);
        $taken = self::takeRoom($f, $keys);
        if ($taken || (self::countsRoom($f) && self::$checked[$id])) return $taken;
        [self::$left[$id], self::$checked[$id]] = [Signals::held(fn() => self::untilCheck($f, State::roomLeft($f))), true];
        return self::takeRoom($f, $keys);
    }

    public static function full(Filter $f, int $done): \BloomFilterException
    {
        $e = Signals::held(fn() => $f->d->kind === Params::GROW
            ? Fault::fail(\BloomFilterException::FULL, '%.40s is full: with %u parts of %d cells in all it cannot grow any more; create one with a larger n', $f->where(), \count($f->parts), $f->m())
            : Fault::fail(\BloomFilterException::FULL, '%.40s is full: it holds the n=%d keys that it is sized for; clear it, rebuild it or create a larger one', $f->where(), $f->d->n));
        Keys::setIndex($e, $done);
        return $e;
    }

    /**
     * Adds while there is room; then a key that is present has its answer, and an absent one is an exception with its index.
     * @param \Closure(list<string>): list<bool> $add
     * @return list<bool>
     */
    public static function addMany(Filter $f, array $keys, \Closure $add): array
    {
        for ($answers = []; $keys; $keys = array_slice($keys, \count($some))) {
            $room = $absent = self::reserve($f, \count($keys));
            $some = $keys;
            if ($room < \count($keys)) {
                $some = array_slice($keys, 0, 256);
                for ($fit = $absent = 0, $present = $f->existMany($some); $fit < \count($some) && ($present[$fit] || $absent < $room); $fit++) $absent += (int) !$present[$fit];
                self::giveRoom($f, $room - ($fit ? $absent : 0));
                if (!$fit) throw self::full($f, \count($answers));
                $some = array_slice($some, 0, $fit);
            }
            if (!$absent && !$f->d->counting) $new = array_fill(0, \count($some), false);        // an add is a test
            else {
                try {
                    $new = $add($some);
                } catch (\Throwable $e) {
                    self::checkSoon($f);         // it is unknown how many are new
                    if (isset($e->index)) Keys::setIndex($e, $e->index + \count($answers));
                    throw $e;
                }
                self::giveRoom($f, $absent - array_sum($new));
            }
            array_push($answers, ...$new);
        }
        return $answers;
    }
}
