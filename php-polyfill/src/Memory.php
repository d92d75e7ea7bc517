<?php
namespace Bloomfilter\Polyfill;

/**
 * Bits or counters in this process: strings of 64 bytes, which are shared until they are written, so that an empty filter takes little.
 * As elements of an ArrayObject they are compared by ==, and no dump or cast shows them.
 * A signal handler may change a filter between two operations of PHP, at a jump or a call.  So a line is read and written in one operation, or in
 * operations without a jump or call between them.
 */
final class Memory extends \ArrayObject implements Store
{
    private array $bit;
    /** @var list<string> lines with one bit each */
    private static array $masks = [];
    private bool $removing = false;

    public function __construct(private Params $d)
    {
        $lines = $d->bytes() + 63 >> 6;
        if ($lines > 1 << 14 && 112 * $lines > self::room())
            throw Fault::fail(\BloomFilterException::NO_MEMORY, 'memory cannot hold %d bytes for m=%d %s', $lines << 6, $d->m, $d->cells());
        parent::__construct(array_fill(0, $lines, str_repeat("\0", 64)), self::STD_PROP_LIST);
        $this->bit = ["\x80", "\x40", "\x20", "\x10", "\x08", "\x04", "\x02", "\x01"];
        for ($i = \count(self::$masks); $i < 512; $i++) self::$masks[$i] = substr_replace(str_repeat("\0", 64), $this->bit[$i & 7], $i >> 3, 1);
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
        if ($from === 0 && $bytes >= \count($this) - 1 << 6) return substr(implode('', $this->getArrayCopy()), 0, $bytes);
        return substr(implode('', array_slice($this->getArrayCopy(), $from >> 6, ($from + $bytes + 63 >> 6) - ($from >> 6))), $from & 63, $bytes);
    }

    /** All bits at once, as read() gives them. */
    public function replace(string $bits): void { $this->exchangeArray(str_split(str_pad($bits, \count($this) << 6, "\0"), 64)); }

    public function __debugInfo(): array { return []; }
    public function __serialize(): array { throw Fault::unsupported('the bits are serialized by their filter only'); }

    public function testMany(array $keys): array { return array_map($this->test(...), $keys); }
    public function addMany(array $keys): array { return array_map($this->add(...), $keys); }
    public function removeMany(array $keys): array { return array_map($this->remove(...), $keys); }
    public function countMany(array $keys): array { return array_map($this->least(...), $keys); }

    public function test(array $positions): bool
    {
        if ($this->d->counting) return $this->least($positions) > 0;
        foreach ($positions as $at)
            if (($this[$at >> 9][$at >> 3 & 63] & $this->bit[$at & 7]) === "\0") return false;
        return true;
    }

    /** True: it was there before. */
    public function add(array $positions): bool
    {
        if ($this->d->counting) return $this->change($positions, 1);
        $present = true;
        foreach ($positions as $at) {
            if (($this[$at >> 9][$at >> 3 & 63] & $this->bit[$at & 7]) !== "\0") continue;
            $this[$at >> 9] |= self::$masks[$at & 511];
            $present = false;
        }
        return $present;
    }

    // ---- counters: number i is the high half of byte i / 2 for even i; 15 stays ----

    public function least(array $positions): int
    {
        $least = 15;
        foreach ($positions as $at)
            $least = min($least, ord($this[$at >> 7][$at >> 1 & 63]) >> ($at & 1 ? 0 : 4) & 15);
        return $least;
    }

    /** Another removal between the test and the change could remove the same key, and so one count of another key. */
    private function remove(array $positions): bool
    {
        if ($this->removing) throw Fault::fail(\BloomFilterException::BUSY, 'the filter is in use: remove() runs in it');
        $this->removing = true;
        try {
            return $this->least($positions) > 0 && $this->change($positions, -1);
        } finally {
            $this->removing = false;
        }
    }

    /** Each counter of a key counts once.  True: all were above 0. */
    private function change(array $positions, int $by): bool
    {
        $all = true;
        foreach (array_unique($positions) as $at) {
            do {
                $line = $old = $this[$at >> 7];
                $byte = ord($line[$at >> 1 & 63]);
                $shift = $at & 1 ? 0 : 4;
                $value = $byte >> $shift & 15;
                if ($value < 15) $line[$at >> 1 & 63] = chr($byte + ($by << $shift));
                $same = $this[$at >> 7] === $old;
                $this[$at >> 7] = [$this[$at >> 7], $line][$same];
            } while (!$same);
            $all = $all && $value > 0;
        }
        return $all;
    }

    /** Combines each line with that of $bits, as they are when it is done. */
    public function combine(string $bits, bool $unite): void
    {
        foreach (str_split(str_pad($bits, \count($this) << 6, "\0"), 64) as $i => $other)
            do {
                $old = $this[$i];
                $new = Bits::combine($old, $other, $unite, $this->d->counting);
                $same = $this[$i] === $old;
                $this[$i] = [$this[$i], $new][$same];
            } while (!$same);
    }
}
