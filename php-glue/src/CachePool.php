<?php
namespace Bloomfilter\Glue;

use Psr\Cache\CacheItemInterface;
use Psr\Cache\CacheItemPoolInterface;

/**
 * A PSR-6 cache pool whose items of keys that are surely not in the database are hits with the value Absent::NotInDatabase. The pool is not asked for them. In
 * mode 'shadow' it is always asked, and its hits are compared.
 */
final class CachePool implements CacheItemPoolInterface
{
    private readonly \Closure $keyOf;

    /** @param ?callable $keyOf as for SimpleCache */
    public function __construct(private readonly CacheItemPoolInterface $pool, private readonly Gate $gate, ?callable $keyOf = null)
    {
        $this->keyOf = $keyOf === null ? fn($key) => $key : $keyOf(...);
    }

    public function getItem($key): CacheItemInterface
    {
        foreach ($this->getItems([$key]) as $item) return $item;
    }

    public function getItems(array $keys = []): iterable
    {
        $keys = array_values($keys);
        $own = array_filter(array_map($this->keyOf, $keys), fn($key) => $key !== null);
        $answers = $own ? $this->gate->look($own) : [];
        $ask = array_filter($keys, fn($i) => !array_key_exists($i, $answers) || $this->gate->passes($answers[$i]), ARRAY_FILTER_USE_KEY);
        $found = [];
        if ($ask) foreach ($this->pool->getItems(array_values($ask)) as $key => $item) $found[$key] = $item;
        $items = [];
        foreach ($keys as $i => $key) {
            $items[$key] = isset($ask[$i]) ? $found[$key] : new AbsentItem($key);
            if (isset($ask[$i], $answers[$i]) && $items[$key]->isHit()) $this->gate->compare($own[$i], $answers[$i], Gate::isThere($items[$key]->get()));
        }
        return $items;
    }

    public function hasItem($key): bool
    {
        $item = $this->getItem($key);
        return !$item instanceof AbsentItem && $item->isHit();
    }

    /** "Absent" itself is not saved: it is the filter's answer of now, and a pool would keep it. */
    public function save(CacheItemInterface $item): bool
    {
        return $item->get() === Absent::NotInDatabase || $this->pool->save($this->plain($item));
    }

    public function saveDeferred(CacheItemInterface $item): bool
    {
        return $item->get() === Absent::NotInDatabase || $this->pool->saveDeferred($this->plain($item));
    }

    /** A pool saves only items of its own. */
    private function plain(CacheItemInterface $item): CacheItemInterface
    {
        return $item instanceof AbsentItem ? $item->fill($this->pool->getItem($item->getKey())) : $item;
    }

    public function clear(): bool
    {
        return $this->pool->clear();
    }

    public function deleteItem($key): bool
    {
        return $this->pool->deleteItem($key);
    }

    public function deleteItems(array $keys): bool
    {
        return $this->pool->deleteItems($keys);
    }

    public function commit(): bool
    {
        return $this->pool->commit();
    }
}
