<?php
namespace Bloomfilter\Polyfill;

/**
 * Scheme block in memory with at most one bit in each word of a line, the usual filter: a key's bits in its line are one string of 64 bytes,
 * compared and set at once.  Placement has the same formulas in steps; calls between them would take longer than all of this.
 */
final class BlockFilter extends Filter
{
    /** Pairs of words with one bit each, by 12 bits of g; for each first word, the words of the cycle. */
    private static array $pairs = [];
    private array $cycle = [];
    /** Of a file that is opened this is a step on the way, without memory. */
    private ?Memory $memory;
    private int $lines;

    public function append(Part $part): void
    {
        parent::append($part);
        $this->memory = $part->store instanceof Memory ? $part->store : null;
        $this->lines = $part->d->m >> 9;
        $this->cycle = self::cycle($part->d->k);
    }

    /** By the first word: all bits of k words that follow each other. */
    public static function cycle(int $k): array
    {
        for ($i = count(self::$pairs); $i < 4096; $i++) self::$pairs[] = pack('P2', 1 << ($i & 63), 1 << ($i >> 6));
        for ($first = 0; $first < 8; $first++)
            for ($cycle[$first] = '', $word = 0; $word < 8; $word++) $cycle[$first] .= str_repeat(($word - $first & 7) < $k ? "\xff" : "\0", 8);
        return $cycle;
    }

    /** The bits of a key in a line. */
    public static function mask(int $g, array $cycle): string
    {
        $pairs = self::$pairs;
        return ($pairs[$g & 4095] . $pairs[$g >> 12 & 4095] . $pairs[$g >> 24 & 4095] . $pairs[$g >> 36 & 4095]) & $cycle[$g >> 61 & 7];
    }

    public function exists(string $key): bool
    {
        if ($this->secret !== null) $h = $this->parts[0]->place->digest($key);
        else {
            $bytes = \hash('xxh3', $key, true);
            $h = \unpack('J', $bytes)[1];
        }
        $b = $h & 0xFFFFFFFF;
        $a = $h >> 32 & 0xFFFFFFFF;
        $low = $b * 0x7F4A7C15;
        $mid = ($low >> 32) + $a * 0x7F4A7C15 - $b * 0x61C88647;
        $g = (($h ^ PHP_INT_MIN) - $a * 0x61C88647 + ($mid >> 32)) ^ PHP_INT_MIN ^ ($mid << 32 | $low & 0xFFFFFFFF);
        $pairs = self::$pairs;
        $mask = ($pairs[$g & 4095] . $pairs[$g >> 12 & 4095] . $pairs[$g >> 24 & 4095] . $pairs[$g >> 36 & 4095]) & $this->cycle[$g >> 61 & 7];
        return ($this->memory[$a * $this->lines + ($b * $this->lines >> 32) >> 32] & $mask) === $mask;
    }

    public function add(string $key): bool
    {
        if (Capacity::$left[$id = \spl_object_id($this)] <= 0 || $this->guarded) return parent::add($key);
        if ($this->secret !== null) $h = $this->parts[0]->place->digest($key);
        else {
            $bytes = \hash('xxh3', $key, true);
            $h = \unpack('J', $bytes)[1];
        }
        $b = $h & 0xFFFFFFFF;
        $a = $h >> 32 & 0xFFFFFFFF;
        $low = $b * 0x7F4A7C15;
        $mid = ($low >> 32) + $a * 0x7F4A7C15 - $b * 0x61C88647;
        $g = (($h ^ PHP_INT_MIN) - $a * 0x61C88647 + ($mid >> 32)) ^ PHP_INT_MIN ^ ($mid << 32 | $low & 0xFFFFFFFF);
        $pairs = self::$pairs;
        $mask = ($pairs[$g & 4095] . $pairs[$g >> 12 & 4095] . $pairs[$g >> 24 & 4095] . $pairs[$g >> 36 & 4095]) & $this->cycle[$g >> 61 & 7];
        $at = $a * $this->lines + ($b * $this->lines >> 32) >> 32;
        if (($this->memory[$at] & $mask) === $mask) return false;
        $this->memory[$at] |= $mask;      // one operation: a signal handler may have added to the line after the test
        Capacity::$left[$id]--;
        return true;
    }

    public function addMany(array $keys): array
    {
        return Capacity::$left[\spl_object_id($this)] > \count($keys) && !$this->guarded ? \array_map($this->add(...), $keys) : parent::addMany($keys);
    }

    public function existMany(array $keys): array { return \array_map($this->exists(...), $keys); }
}
