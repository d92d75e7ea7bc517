<?php
namespace Bloomfilter\Glue;

/** Creates filters and gates from a framework's configuration. */
final class Filters
{
    /** The settings of the gate and of the rebuild; all others are arguments of the filter's constructor. */
    private const OURS = ['mode' => 1, 'fail' => 1, 'source' => 1, 'counting' => 1, 'trust' => 1];

    /** @param array<string, mixed> $settings n, p, storage and so on; counting: a CountingBloomFilter */
    public static function create(array $settings): \BloomFilter
    {
        return new (self::kind($settings))(...array_diff_key($settings, self::OURS));
    }

    private static function kind(array $settings): string
    {
        return empty($settings['counting']) ? \BloomFilter::class : \CountingBloomFilter::class;
    }

    /**
     * @param \Closure $filter gives the framework's filter; the gate opens a file that has replaced its file by itself, of any size
     * @param array<string, mixed> $settings of the filter and of the gate
     */
    public static function gate(\Closure $filter, array $settings, ?callable $report = null): Gate
    {
        $again = array_diff_key($settings, self::OURS, ['m' => 1, 'n' => 1, 'k' => 1, 'p' => 1]);
        $open = function () use (&$filter, $settings, $again) {
            $opened = $filter();
            if (is_string($settings['storage'] ?? null)) $filter = fn() => self::kind($settings)::open(...$again);
            return $opened;
        };
        return new Gate($open, $settings['mode'] ?? 'trust', $settings['fail'] ?? 'open', $report, $settings['trust'] ?? false);
    }
}
