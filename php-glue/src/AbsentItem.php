<?php
namespace Bloomfilter\Glue;

use Psr\Cache\CacheItemInterface;

/** The item of a key that is surely not in the database. It can be given a value and saved, for a row that was just inserted. */
final class AbsentItem implements CacheItemInterface
{
    private mixed $value = Absent::NotInDatabase;
    /** @var list<array{string, mixed}> */
    private array $calls = [];

    public function __construct(private readonly string $key)
    {
    }

    public function getKey(): string
    {
        return $this->key;
    }

    public function get(): mixed
    {
        return $this->value;
    }

    public function isHit(): bool
    {
        return true;
    }

    public function set($value): static
    {
        $this->value = $value;
        return $this;
    }

    public function expiresAt($expiration): static
    {
        $this->calls[] = ['expiresAt', $expiration];
        return $this;
    }

    public function expiresAfter($time): static
    {
        $this->calls[] = ['expiresAfter', $time];
        return $this;
    }

    /** Gives an item of a pool the value and expiration of this one. */
    public function fill(CacheItemInterface $item): CacheItemInterface
    {
        foreach ($this->calls as [$method, $argument]) $item->$method($argument);
        return $item->set($this->value);
    }
}
