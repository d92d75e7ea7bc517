<?php
namespace Bloomfilter\Glue;

/** Creates filters and gates from a framework's configuration. */
final class Filters
{
    /** The settings of the gate and of the rebuild; all others are arguments of the filter's constructor. */
    private const OURS = ['mode' => 1, 'fail' => 1, 'source' => 1, 'counting' => 1];

    /** @param array<string, mixed> $settings n, p, storage and so on; counting: a CountingBloomFilter */
    public static function create(array $settings): \BloomFilter
    {
        $class = empty($settings['counting']) ? \BloomFilter::class : \CountingBloomFilter::class;
        return new $class(...array_diff_key($settings, self::OURS));
    }

    /** @param array<string, mixed> $settings mode and fail */
    public static function gate(\BloomFilter|\Closure $filter, array $settings, ?callable $report = null): Gate
    {
        return new Gate($filter, $settings['mode'] ?? 'trust', $settings['fail'] ?? 'open', $report);
    }
}
