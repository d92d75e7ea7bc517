<?php
namespace Bloomfilter\Glue;

use Psr\SimpleCache\CacheInterface;

/**
 * A PSR-16 cache that answers Absent::NotInDatabase for keys that are surely not in the database, without asking the cache.
 *
 * In mode 'shadow' it always asks the cache. get() then compares hits only; remember() compares every key.
 */
final class SimpleCache implements CacheInterface
{
    private readonly \Closure $keyOf;

    /** @param ?callable $keyOf gives the filter's key of a cache key; null: the filter says nothing about it. Without it both are the same key */
    public function __construct(private readonly CacheInterface $cache, private readonly Gate $gate, ?callable $keyOf = null)
    {
        $this->keyOf = $keyOf === null ? fn($key) => $key : $keyOf(...);
    }

    public function get($key, $default = null): mixed
    {
        foreach ($this->getMultiple([$key], $default) as $value) return $value;
    }

    /** The cached value, or else what $load returns, which is cached; null if the key is surely not in the database. */
    public function remember(string $key, callable $load, null|int|\DateInterval $ttl = null): mixed
    {
        $own = ($this->keyOf)($key);
        $look = function () use ($key, $load, $ttl) {
            $value = $this->cache->get($key);
            if ($value === null && ($value = $load()) !== null) $this->set($key, $value, $ttl);
            return $value === Absent::NotInDatabase ? null : $value;    // a gated cache inside this one says it
        };
        return $own === null ? $look() : $this->gate->ask($own, $look);
    }

    public function getMultiple($keys, $default = null): iterable
    {
        $keys = is_array($keys) ? array_values($keys) : iterator_to_array($keys, false);
        $answers = $this->answers($keys);
        $ask = array_filter($keys, fn($i) => !array_key_exists($i, $answers) || $this->gate->passes($answers[$i]), ARRAY_FILTER_USE_KEY);
        $missed = new \stdClass;
        $found = [];
        if ($ask) foreach ($this->cache->getMultiple($ask, $missed) as $key => $value) $found[$key] = $value;
        $values = [];
        foreach ($keys as $i => $key) {
            $value = isset($ask[$i]) ? $found[$key] : Absent::NotInDatabase;
            if (isset($ask[$i], $answers[$i]) && $value !== $missed) $this->gate->compare(($this->keyOf)($key), $answers[$i], Gate::isThere($value));
            $values[$key] = $value === $missed ? $default : $value;
        }
        return $values;
    }

    public function has($key): bool
    {
        $answers = $this->answers([$key]);
        return (!$answers || $this->gate->passes($answers[0])) && $this->cache->has($key);
    }

    /** The gate's answers for the keys that it knows, under their places in the list. */
    private function answers(array $keys): array
    {
        $own = array_filter(array_map($this->keyOf, $keys), fn($key) => $key !== null);
        return $own ? $this->gate->look($own) : [];
    }

    /** "Absent" itself is not stored: it is the filter's answer of now, and a cache would keep it. */
    public function set($key, $value, $ttl = null): bool
    {
        return $value === Absent::NotInDatabase || $this->cache->set($key, $value, $ttl);
    }

    public function setMultiple($values, $ttl = null): bool
    {
        $values = is_array($values) ? $values : iterator_to_array($values);
        return $this->cache->setMultiple(array_filter($values, fn($value) => $value !== Absent::NotInDatabase), $ttl);
    }

    public function delete($key): bool
    {
        return $this->cache->delete($key);
    }

    public function deleteMultiple($keys): bool
    {
        return $this->cache->deleteMultiple($keys);
    }

    public function clear(): bool
    {
        return $this->cache->clear();
    }
}
