<?php
namespace Bloomfilter\Polyfill;

/** A row: how a key becomes positions, and what an older system fixes.  The ids are stored in files. */
final class Scheme
{
    private const LIMIT = 1 << 32;
    public const OTHERS = ['sax-sdbm' => 16, 'java7' => 17, 'rs-rand' => 20, 'rs-dotnet' => 21, 'rs-dotnet-repo' => 22, 'guava' => 25, 'guava32' => 26, 'guava-31' => 27, 'redisson' => 28,
        'functions' => 29, 'scrapy-redis-bloomfilter' => 30, 'redisbloom' => 34];

    /** id, largest k, bits of a line, native, and of older systems: k, bits per key, m, largest m, values of the hash, of a position */
    private const ROWS = [
        'classic' => [1, 4096, 1, true],
        'block' => [2, 16, 512, true],
        'block2' => [3, 32, 512, true],
        'hashes64-classic' => [31, 4096, 1, true],
        'hashes64-block' => [32, 16, 512, true],
        'hashes64-block2' => [33, 32, 512, true],
        'php-mt' => [18, 4096, 1, false, 0, 0, 0, 0, self::LIMIT],
        'php-mt-legacy' => [19, 4096, 1, false, 0, 0, 0, 0, self::LIMIT, 1 << 31],
        'gozero' => [23, 16, 1, false, 14, 20, 0, self::LIMIT],
        'php-hashes' => [24, 16, 1, false, 0, 0, self::LIMIT],
    ];

    /**
     * @param list<string> $functions of php-hashes
     * @param bool $hashed keys are 64-bit hashes
     */
    private function __construct(
        public readonly string $name,
        public readonly string $row,
        public readonly array $functions,
        public readonly bool $hashed,
        public readonly string $layout,
        public readonly int $id,
        public readonly int $mostK,
        public readonly int $line,
        public readonly bool $native,
        public readonly int $k = 0,
        public readonly int $bitsPerKey = 0,
        public readonly int $m = 0,
        public readonly int $mostM = 0,
        public readonly int $values = 0,
        public readonly int $range = 0,
    ) {
    }

    public static function find(string $name): self
    {
        $parts = explode(':', $name, 2);
        if ((strlen($name) >= 64 && $parts[0] !== 'php-hashes') || !isset(self::ROWS[$parts[0]])) {
            throw strlen($name) < 64 && isset(self::OTHERS[$parts[0]])
                ? Fault::unsupported('scheme %.40s needs the extension: pure PHP has %s', $name, implode(', ', array_keys(self::ROWS)))
                : Fault::value('scheme must be classic, block, block2 or that of an older system, got %.40s%s', $name, self::hint($name));
        }
        $row = self::ROWS[$parts[0]];
        if ($parts[0] === 'php-hashes') {
            $functions = PhpHashes::names($parts[1] ?? null);
            $row[4] = count($functions);
            $name = 'php-hashes:' . implode(',', $functions);
        } elseif (isset($parts[1])) {
            throw Fault::value('scheme %s takes nothing after its name, got %.40s', ...[$parts[0], $name]);
        }
        $layout = str_replace('hashes64-', '', $parts[0]);
        return new self($name, $parts[0], $functions ?? [], $layout !== $parts[0], $layout, ...$row);
    }

    /** Names the scheme that begins like this one, if two or more characters are the same. */
    private static function hint(string $name): string
    {
        $longest = 1;
        foreach (array_keys(self::ROWS + self::OTHERS) as $known) {
            $same = strspn($known ^ $name, "\0");
            if ($same > $longest) {
                [$longest, $alike] = [$same, $known];
            }
        }
        return isset($alike) ? "; did you mean $alike?" : '';
    }

    public static function byId(int $id): ?string
    {
        foreach (self::ROWS as $name => $row) if ($row[0] === $id) return $name;
        return null;
    }

    /** The multiple that m is rounded up to. */
    public function step(int $shards): int { return $shards > 1 ? max($this->line, 64) * $shards : $this->line; }

    public function largestM(): int { return $this->mostM ?: Sizing::MOST_M; }

    public function canBeKeyed(): bool { return $this->native && !$this->hashed; }

    public function checkLimits(int $m, int $k): void
    {
        if ($this->k && $k !== $this->k) throw Fault::value('k must be %u for scheme %s, got %u', $this->k, $this->name, $k);
        if ($k > $this->mostK) throw Fault::value('k must be 1 to %u for scheme %s, got %u', $this->mostK, $this->name, $k);
        if ($this->m && $m !== $this->m) throw Fault::value('m must be %d for scheme %s, got %d', $this->m, $this->name, $m);
        if ($this->mostM && $m > $this->mostM)
            throw Fault::value('m must be 1 to %d for scheme %s, got %d', $this->mostM, $this->name, $m);
    }
}
