<?php
namespace Bloomfilter\Polyfill;

/** What a header or a companion hash says of a filter: a fixed one, one that grows, or a part of that. */
final class Params
{
    public const FIXED = 0;
    public const GROW = 1;
    public const PART = 3;
    /** What comparisons ask for, each with what the one before asks for. */
    public const SAME_HASH = 0;
    public const SAME_BITS = 1;
    public const SAME_FILTER = 2;

    /** Filters are keyed where it is not 0. */
    public int $secretCheck = 0;
    public int $kind = self::FIXED;
    public float $grow = 0.0;
    /** Of a part: which. */
    public int $index = 0;
    /** Number of parts; of a part: keys added to it. */
    public int $live = 0;
    /** Written in place since it was saved. */
    public bool $dirty = false;

    public function __construct(
        public Scheme $scheme,
        public int $m,
        public int $n,
        public int $k,
        public float $p,
        public int $shards = 1,
        public bool $counting = false,
    ) {
    }

    public function cellBits(): int { return $this->counting ? 4 : 1; }

    public function bits(): int { return $this->m * $this->cellBits(); }

    /** Bytes of the bits as stored: whole words of 64 bits. */
    public function bytes(): int { return intdiv($this->bits() + 63, 64) * 8; }

    public function cells(): string { return $this->counting ? 'counters' : 'bits'; }

    /** Shards of block filters are runs of lines: they change no position. */
    public function shardsThatMatter(): int { return $this->scheme->layout === 'block' ? 1 : $this->shards; }

    /** The rate at n keys: p, or more where the scheme's hash raises it. */
    public function effectiveP(): float
    {
        if (Rates::isFormula($this->scheme)) return $this->p;
        $p = Rates::of($this->scheme, (float) $this->m, (float) $this->n, $this->k);
        $formula = Rates::layout($this->scheme->layout, $this->m / $this->n, $this->k);
        return $p > max($this->p, $formula) * 1.001 ? min($p, 1 - PHP_FLOAT_EPSILON / 2) : $this->p;
    }

    private function is(): string { return $this->kind === self::GROW ? 'grows' : 'is of fixed size'; }

    public function differenceTo(self $other, int $scope): ?string
    {
        $shards = $scope === self::SAME_FILTER
            ? $this->shardsThatMatter() !== $other->shardsThatMatter() : $this->shards !== $other->shards;
        return match (true) {
            $this->scheme->name !== $other->scheme->name => 'scheme',
            $scope === self::SAME_FILTER && $this->kind !== $other->kind => 'kind',
            $scope === self::SAME_FILTER && $this->grow !== $other->grow => 'grow',
            $scope >= self::SAME_BITS && $this->counting !== $other->counting => 'counting',
            $scope >= self::SAME_BITS && $this->m !== $other->m => 'm',
            $this->k !== $other->k => 'k',
            $scope >= self::SAME_BITS && $shards => 'shards',
            $this->secretCheck !== $other->secretCheck => 'secret',
            default => null,
        };
    }

    /** For filters that are united, intersected or compared. */
    public function checkSame(self $other): void
    {
        $name = $this->differenceTo($other, self::SAME_FILTER);
        if ($name === null) return;
        $value = fn(self $d) => match ($name) {
            'scheme' => $d->scheme->name,
            'grow' => Fault::number($d->grow),
            'shards' => (string) $d->shardsThatMatter(),
            default => (string) $d->$name,
        };
        $keyed = !$this->secretCheck || !$other->secretCheck ? 'one is keyed and the other is not' : 'got two different ones';
        throw match ($name) {
            'kind' => Fault::value('filters must be of one kind: one %s and the other %s', $this->is(), $other->is()),
            'counting' => Fault::value('filters must be of the same kind, got a %s one and a %s one: convert the counting one to a plain one',
                $this->counting ? 'counting' : 'plain', $other->counting ? 'counting' : 'plain'),
            'secret' => Fault::value('filters must have the same secret: %s', $keyed),
            default => Fault::value('filters must have the same %s, got %s and %s', $name, $value($this), $value($other)),
        };
    }

    /** A filter that exists is what was asked for: every argument that was given is its own. */
    public function checkMatch(Spec $want, string $where): void
    {
        $this->matchGiven($want, $where);
        if ($this->kind === self::GROW || !Sizing::suffices($want)) return;
        $byRate = !$want->m && !$want->k && $want->n && $want->p;
        if ($byRate && Sizing::schemeOf($want) === $this->scheme->name) return;
        $as = clone $want;
        $as->shards = $this->shards;
        $d = Sizing::fixed($as);
        if ($d->scheme->name !== $this->scheme->name)
            throw $this->mismatch('%.80s has scheme %s, asked for scheme %s', $where, $this->scheme->name, $d->scheme->name);
        $this->matchNumber($where, 'm', $d->m);
        $this->matchNumber($where, 'k', $d->k);
    }

    private function matchGiven(Spec $want, string $where): void
    {
        if ($want->grow && $want->grow !== $this->grow) {
            throw $this->grow
                ? $this->mismatch('%.80s has grow=%g, asked for grow=%g', $where, $this->grow, $want->grow)
                : $this->mismatch('%.80s is not a growing filter, but grow=%g was asked for', $where, $want->grow);
        }
        if ($want->window)
            throw $this->mismatch('%.80s is not a forgetting filter, but window=%g was asked for', $where, $want->window);
        if ($want->parts) throw $this->mismatch('%.80s has parts=0, asked for parts=%d', $where, $want->parts);
        if ($want->clock) throw Fault::value('%.80s is not a forgetting filter: clock must not be given', $where);
        if ($this->kind === self::GROW && $want->m)
            throw $this->mismatch('%.80s %s: it has parts of many sizes, and m must not be given', $where, $this->is());
        $ours = $want->scheme === 'hashes64' ? $this->scheme->hashed : $want->scheme === null || Scheme::find($want->scheme)->name === $this->scheme->name;
        if (!$ours)
            throw $this->mismatch('%.80s has scheme %s, asked for scheme %.24s', $where, $this->scheme->name, $want->scheme);
        $this->matchNumber($where, 'shards', $want->shards);
        if ($want->counting !== $this->counting) {
            throw $this->mismatch('%.80s is a %s filter, asked for a %s one', $where, $this->counting ? 'counting' : 'plain',
                $this->counting ? 'plain' : 'counting');
        }
        $step = $this->scheme->step($this->shards);
        if ($want->m && intdiv($want->m + $step - 1, $step) * $step !== $this->m)
            throw $this->mismatch('%.80s has m=%d, asked for m=%d', $where, $this->m, $want->m);
        $this->matchNumber($where, 'n', $want->n);
        $this->matchNumber($where, 'k', $want->k);
        if ($want->p && $want->p !== $this->p && $want->p !== $this->effectiveP())
            throw $this->mismatch('%.80s has p=%.10g, asked for p=%.10g', $where, $this->p, $want->p);
    }

    private function matchNumber(string $where, string $name, int $want): void
    {
        if ($want && $want !== $this->$name)
            throw $this->mismatch('%.80s has %s=%d, asked for %s=%d', $where, $name, $this->$name, $name, $want);
    }

    private function mismatch(string $format, mixed ...$values): \BloomFilterException
    {
        return Fault::fail(\BloomFilterException::MISMATCH, $format, ...$values);
    }

    public function plain(): self
    {
        $d = clone $this;
        $d->counting = false;
        return $d;
    }

    /** The parameters of part i, without its size. */
    public function part(int $i): self
    {
        $part = clone $this;
        [$part->kind, $part->index, $part->live, $part->grow] = [self::PART, $i, 0, 0.0];
        return $part;
    }
}
