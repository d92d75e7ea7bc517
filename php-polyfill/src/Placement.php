<?php
namespace Bloomfilter\Polyfill;

/** Keys to digests, digests to positions: of one size, scheme and secret.  Knows nothing of where bits are. */
final class Placement
{
    /** Multiples of the constant that classic adds from step to step. */
    private array $steps = [];

    public function __construct(private Params $d, private ?Secret $secret)
    {
        for ($j = 1; $d->scheme->layout === 'classic' && $j < $d->k; $j++)
            $this->steps[] = Numbers::times(-0x18FC812E5F4BD725, $j);
    }

    public static function checkTakesKeys(Params $d): void
    {
        if ($d->scheme->hashed)
            throw Fault::value('a filter of scheme %s takes hashes, not keys: use add_hashes and contains_hashes', $d->scheme->name);
    }

    /**
     * @param string|int $key an int is a hash: the digest itself
     * @return int|list<int>
     */
    public function digest(string|int $key): int|array
    {
        if (\is_int($key)) return $key;
        self::checkTakesKeys($this->d);
        if ($this->d->scheme->native) {
            if ($this->secret) return $this->secret->hash($key);
            $bytes = \hash('xxh3', $key, true);
            return \unpack('J', $bytes)[1];
        }
        switch ($this->d->scheme->row) {
            case 'php-hashes': return PhpHashes::digests($this->d->scheme->functions, $key);
            case 'gozero':
                for ($digests = [], $i = 0; $i < 14; $i++) {
                    $bytes = hash('murmur3f', $key . chr($i), true);
                    $digests[] = unpack('J', $bytes)[1];
                }
                return $digests;
        }
        return crc32($key);
    }

    /** @return list<int> */
    public function of(int|array $digest): array
    {
        if (is_array($digest)) return array_map(fn(int $one) => Numbers::modulo($one, $this->d->m), $digest);
        if (!$this->d->scheme->native) return MersenneTwister::draw($digest, $this->d->m, $this->d->k, $this->d->scheme->row !== 'php-mt');
        $shards = $this->d->shardsThatMatter();
        if ($shards === 1) return $this->native($digest, $this->d->m);
        $m = intdiv($this->d->m, $shards);
        $start = Numbers::mulhi($digest, $shards) * $m;
        $digest = Numbers::times($digest, $shards);
        $positions = $this->native($digest, $m);
        return array_map(fn(int $at) => $start + $at, $positions);
    }

    private function native(int $h, int $m): array
    {
        if ($this->d->scheme->layout === 'classic') return $this->classic($h, $m);
        $g = Numbers::mum1($h);
        if ($this->d->scheme->layout === 'block') {
            $line = Numbers::mulhi($h, $m >> 9);
            return self::line($line, $g, $this->d->k);
        }
        [$a, $b, $h2] = self::twoLines($h, $m >> 9);
        $g2 = Numbers::mum1($h2);
        return [...self::line($a, $g, $this->d->k + 1 >> 1), ...self::line($b, $g2, $this->d->k >> 1)];
    }

    /** @return array{int, int, int} two lines, never the same unless there is only one, and the second digest */
    public static function twoLines(int $h, int $lines): array
    {
        $h2 = Numbers::mum2($h);
        $a = Numbers::mulhi($h, $lines);
        $b = $a + 1 + Numbers::mulhi($h2, $lines - 1);
        return [$a, $b >= $lines ? $b - $lines : $b, $h2];
    }

    /** One bit in each of k words that follow each other cyclically; past 8 a second one. */
    private static function line(int $line, int $g, int $k): array
    {
        $positions = [];
        for ($word = $g >> 61, $j = 0; $j < $k; $j++, $word++) {
            if ($j === 8) $g = Numbers::mum2($g);
            $positions[] = $line << 9 | ($word & 7) << 6 | ($g >> 6 * ($word & 7) & 63 ^ 7);
        }
        return $positions;
    }

    private function classic(int $h, int $m): array
    {
        $g = Numbers::mum1($h);
        $positions = [Numbers::mulhi($h, $m)];
        foreach ($this->steps as $step) {
            $h = Numbers::add($h, $g);
            $g = Numbers::add($g, $step);
            $positions[] = Numbers::mulhi($h, $m);
        }
        return $positions;
    }
}
