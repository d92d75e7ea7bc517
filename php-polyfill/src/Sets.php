<?php
namespace Bloomfilter\Polyfill;

/** Two filters: union, intersection, comparison, estimates. */
final class Sets
{
    /** The parts that both have are of the same sizes. */
    private static function sameParts(Filter $a, Filter $b): void
    {
        foreach (array_intersect_key($a->parts, $b->parts) as $i => $part)
            if ($part->d->m !== $b->parts[$i]->d->m)
                throw Fault::value('filters that grow must have parts of equal sizes: part %u has m=%d here and m=%d there', $i, $part->d->m, $b->parts[$i]->d->m);
    }

    private static function growEqually(Filter $into, Filter $from): void
    {
        self::sameParts($into, $from);
        while (\count($into->parts) < \count($from->parts)) {
            $into->grow(\count($into->parts));
            self::sameParts($into, $from);
        }
    }

    /** The keys of a filter in Redis become those of another one. */
    public static function replace(Filter $into, Filter $from): void
    {
        $into->follow();
        self::growEqually($into, $from);
        if ($into->d->kind === Params::GROW) foreach ($into->parts as $i => $part) $part->d->live = isset($from->parts[$i]) ? $from->parts[$i]->d->live : 0;
        $into->replaceAll($from->allBits(), 'rebuilt');
    }

    public static function combine(Filter $into, Filter $from, bool $unite): void
    {
        $into->d->checkSame($from->d);
        if (!$unite && $into->d->kind === Params::GROW)
            throw Fault::value('filters that grow or forget cannot be intersected: a key may be in different parts of them');
        if ($into->d->counting && $into->d->kind === Params::GROW)
            throw Fault::value('filters that count and grow cannot be united: a key may be counted in different parts of them');
        $into->checkWritable();
        $into->follow();
        $from->follow();
        self::growEqually($into, $from);
        if ($into->rebuilt && $unite) self::combine($into->rebuilt, $from, true);
        if ($into->batch) $into->replaceAll($from->allBits(), $unite ? 'united' : 'intersected');
        else foreach ($from->parts as $i => $part) $into->parts[$i]->store->combine($part->bits(), $unite);
        foreach ($into->d->kind === Params::GROW ? $into->parts : [] as $part)
            $part->d->live = max($part->d->live, min((int) Rates::estimate($part->d, $part->ones())['count'], $part->d->m));
        if ($into instanceof Redis\Growing) $into->storeKeys();
        Capacity::merged($into);
    }

    /** A new filter in memory. */
    public static function combined(Filter $a, Filter $b, bool $unite): Filter
    {
        $a->d->checkSame($b->d);
        $result = $a->copy();
        self::combine($result, $b, $unite);
        return $result;
    }

    public static function equal(Filter $a, Filter $b): bool
    {
        try {
            $a->d->checkSame($b->d);
            $a->follow();
            $b->follow();
            self::sameParts($a, $b);
        } catch (\ValueError) {
            return false;
        }
        if (\count($a->parts) !== \count($b->parts)) return false;
        foreach ($a->parts as $i => $part)
            if ($part->bits() !== $b->parts[$i]->bits()) return false;
        return true;
    }

    public static function subset(Filter $a, Filter $b): bool
    {
        $a->d->checkSame($b->d);
        return Bits::within($a->bits('be compared'), $b->bits('be compared'), $a->d->counting);
    }

    public static function unionCount(Filter $a, Filter $b): float
    {
        $a->d->checkSame($b->d);
        $both = $a->bits('be compared') | $b->bits('be compared');       // counters: above 0 where one is
        return Rates::estimate($a->d, Bits::ones($both, $a->d->counting))['count'];
    }

    /** |A| + |B| - |A or B|: bits set in both may be of different keys. */
    public static function intersectionCount(Filter $a, Filter $b): float
    {
        $both = self::unionCount($a, $b);
        [$x, $y] = [State::of($a)['count'], State::of($b)['count']];
        return max(0.0, min($x + $y - $both, $x, $y));
    }
}
