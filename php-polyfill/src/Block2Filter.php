<?php
namespace Bloomfilter\Polyfill;

/** Scheme block2 in memory as BlockFilter has block: a string of 64 bytes for each of a key's two lines. */
final class Block2Filter extends Filter
{
    private ?Memory $memory;
    private int $lines;
    private array $cycles;

    public function append(Part $part): void
    {
        parent::append($part);
        $this->memory = $part->store instanceof Memory ? $part->store : null;
        $this->lines = $part->d->m >> 9;
        $this->cycles = [BlockFilter::cycle($part->d->k + 1 >> 1), BlockFilter::cycle($part->d->k >> 1)];
    }

    /** @return array{int, string, int, string} lines, and the bits in them */
    private function masks(string $key): array
    {
        $h = $this->parts[0]->place->digest($key);
        [$a, $b, $h2] = Placement::twoLines($h, $this->lines);
        return [$a, BlockFilter::mask(Numbers::mum1($h), $this->cycles[0]), $b, BlockFilter::mask(Numbers::mum1($h2), $this->cycles[1])];
    }

    public function exists(string $key): bool
    {
        [$a, $first, $b, $second] = $this->masks($key);
        return ($this->memory[$a] & $first) === $first && ($this->memory[$b] & $second) === $second;
    }

    public function add(string $key): bool
    {
        if (Capacity::$left[$id = \spl_object_id($this)] <= 0 || $this->guarded) return parent::add($key);
        [$a, $first, $b, $second] = $this->masks($key);
        $lines = $this->memory;
        if (($lines[$a] & $first) === $first && ($lines[$b] & $second) === $second) return false;
        $lines[$a] |= $first;
        $lines[$b] |= $second;
        Capacity::$left[$id]--;
        return true;
    }

    public function addMany(array $keys): array
    {
        return Capacity::$left[\spl_object_id($this)] > \count($keys) && !$this->guarded ? \array_map($this->add(...), $keys) : parent::addMany($keys);
    }

    public function existMany(array $keys): array { return \array_map($this->exists(...), $keys); }
}
