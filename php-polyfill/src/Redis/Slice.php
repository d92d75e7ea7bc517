<?php
namespace Bloomfilter\Polyfill\Redis;

use Bloomfilter\Polyfill\Store;

/** The bits of one part in the string of a filter that grows. */
final class Slice implements Store
{
    /** @param int $from its first byte */
    public function __construct(private Key $key, private int $from) {}

    public function read(int $from, int $bytes): string { return $this->key->read($this->from + $from, $bytes); }
    public function ones(int $from = 0, ?int $bytes = null): int { return $this->key->ones($this->from + $from, $bytes); }
    public function testMany(array $keys): array { throw new \LogicException; }
    public function addMany(array $keys): array { throw new \LogicException; }
    public function removeMany(array $keys): array { throw new \LogicException; }
    public function countMany(array $keys): array { throw new \LogicException; }
    public function replace(string $bits): void { throw new \LogicException; }
}
