<?php
namespace Bloomfilter\Polyfill;

/** Bits or counters in this process: strings of 64 bytes, which are shared until they are written, so that an empty filter takes little. */
final class Memory implements Store
{
    /** @var list<string> */
    public array $lines;
    private array $bit;

    public function __construct(private Params $d)
    {
        $lines = $d->bytes() + 63 >> 6;
        if ($lines > 1 << 14 && 112 * $lines > self::room())
            throw Fault::fail(\BloomFilterException::NO_MEMORY, 'memory cannot hold %d bytes for m=%d %s', $lines << 6, $d->m, $d->cells());
        $this->lines = array_fill(0, $lines, str_repeat("\0", 64));
        $this->bit = ["\x80", "\x40", "\x20", "\x10", "\x08", "\x04", "\x02", "\x01"];
    }

    /** What memory_limit leaves, or without one the machine; PHP cannot catch that there is no more. */
    private static function room(): int
    {
        $text = ini_get('memory_limit');
        $limit = (int) $text << 10 * (int) strpos(' KMG', strtoupper(substr($text, -1)));
        if ($limit > 0) return $limit - memory_get_usage();
        $machine = (string) Fault::quietly(file_get_contents(...), '/proc/meminfo');
        return preg_match('/^MemAvailable: +(\d+)/m', $machine, $match) ? $match[1] << 10 : 1 << 36;
    }

    public function read(int $from, int $bytes): string
    {
        if ($from === 0 && $bytes >= count($this->lines) - 1 << 6) return substr(implode('', $this->lines), 0, $bytes);
        return substr(implode('', array_slice($this->lines, $from >> 6, ($from + $bytes + 63 >> 6) - ($from >> 6))), $from & 63, $bytes);
    }

    /** All bits at once, as read() gives them. */
    public function replace(string $bits): void { $this->lines = str_split(str_pad($bits, count($this->lines) << 6, "\0"), 64); }

    public function testMany(array $keys): array { return array_map($this->test(...), $keys); }
    public function addMany(array $keys): array { return array_map($this->add(...), $keys); }
    public function removeMany(array $keys): array { return array_map($this->remove(...), $keys); }
    public function countMany(array $keys): array { return array_map($this->least(...), $keys); }

    public function test(array $positions): bool
    {
        if ($this->d->counting) return $this->least($positions) > 0;
        foreach ($positions as $at)
            if (($this->lines[$at >> 9][$at >> 3 & 63] & $this->bit[$at & 7]) === "\0") return false;
        return true;
    }

    /** True: it was there before. */
    public function add(array $positions): bool
    {
        if ($this->d->counting) return $this->count($positions, 1);
        $present = true;
        foreach ($positions as $at) {
            $byte = $this->lines[$at >> 9][$at >> 3 & 63];
            $new = $byte | $this->bit[$at & 7];
            if ($new === $byte) continue;
            $this->lines[$at >> 9][$at >> 3 & 63] = $new;
            $present = false;
        }
        return $present;
    }

    // ---- counters: number i is the high half of byte i / 2 for even i; 15 stays ----

    public function least(array $positions): int
    {
        $least = 15;
        foreach ($positions as $at)
            $least = min($least, ord($this->lines[$at >> 7][$at >> 1 & 63]) >> ($at & 1 ? 0 : 4) & 15);
        return $least;
    }

    private function remove(array $positions): bool { return $this->least($positions) > 0 && $this->count($positions, -1); }

    /** Each counter of a key counts once.  True: all were above 0. */
    private function count(array $positions, int $by): bool
    {
        $all = true;
        foreach (array_unique($positions) as $at) {
            $byte = ord($this->lines[$at >> 7][$at >> 1 & 63]);
            $shift = $at & 1 ? 0 : 4;
            $value = $byte >> $shift & 15;
            if ($value < 15) $this->lines[$at >> 7][$at >> 1 & 63] = chr($byte + ($by << $shift));
            $all = $all && $value > 0;
        }
        return $all;
    }
}
