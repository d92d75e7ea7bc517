<?php
namespace Bloomfilter\Polyfill;

/** An open filter: keys over its parts.  A filter of fixed size has one part; one that grows puts a key into the newest unless one has it. */
class Filter
{
    public string $home = 'memory';
    /** As messages name it; null: in memory. */
    public ?string $label = null;
    public ?string $storage = null;
    public ?string $key = null;
    /** Why it cannot be written: '' where that was asked for; null: it can. */
    public ?string $readOnly = null;
    /** An add of one key is not as usual: read-only, or overfull: 'raise'. */
    protected bool $guarded = false;
    /** Keys per call of the store; 0: it is in this process. */
    public int $batch = 0;
    /** Takes the keys that are added while it is filled to take this one's place. */
    public ?self $rebuilt = null;
    /** @var list<Part> */
    public array $parts = [];
    protected bool $atLimit = false;

    final public function __construct(public Params $d, public ?Secret $secret) { Capacity::checkSoon($this); }

    /** A filter without parts yet. */
    public static function shell(Params $d, ?Secret $secret): self
    {
        if ($d->kind !== Params::FIXED || $d->counting || $d->shardsThatMatter() > 1) return new self($d, $secret);
        return match (true) {
            $d->scheme->row === 'block' && $d->k <= 8 => new BlockFilter($d, $secret),
            $d->scheme->row === 'block2' && $d->k <= 16 => new Block2Filter($d, $secret),
            default => new self($d, $secret),
        };
    }

    /** An empty filter in memory. */
    public static function memory(Params $d, ?Secret $secret): self
    {
        $f = self::shell($d, $secret);
        $first = $d->kind === Params::FIXED ? $d : $f->next();
        $f->append(new Part($first, new Memory($first), $secret));
        return $f;
    }

    public function append(Part $part): void
    {
        $part->start = $this->parts ? $this->m() : 0;
        $this->parts[] = $part;
    }

    public function m(): int
    {
        $last = end($this->parts);
        return $last->start + $last->d->m;
    }

    public function where(): string { return $this->label ?? 'the filter'; }

    /** Brings in parts that others appended. */
    public function follow(): void {}

    public function setReadOnly(?string $why): void
    {
        $this->readOnly = $why;
        $this->guarded = $this->guarded || $why !== null;
    }

    public function checkWritable(): void
    {
        if ($this->readOnly === null) return;
        $where = $this->where();
        throw Fault::unsupported('%.80s is open read-only%s: nothing can be added or changed', $where, $this->readOnly);
    }

    public function __destruct() { Capacity::end($this); }

    public function withOverfull(?string $overfull, bool $created = false): static
    {
        Capacity::start($this, $overfull, $created);
        $this->guarded = $this->guarded || $overfull === 'raise';
        return $this;
    }

    // ---- keys ----

    /** True: it is surely new. */
    public function add(string $key): bool
    {
        Capacity::begin($this);
        try {
            return $this->addMany([$key])[0];
        } catch (\BloomFilterException $e) {
            unset($e->index);
            throw $e;
        }
    }

    public function exists(string $key): bool { return $this->existMany([$key])[0]; }
    public function remove(string $key): bool { return $this->removeMany([$key])[0]; }
    public function countOf(string $key): int { return $this->countMany([$key])[0]; }

    /**
     * An exception has the index of the first key that is not added.
     * @param list<string|int> $keys an int is a hash
     * @return list<bool>
     */
    public function addMany(array $keys): array
    {
        $this->checkWritable();
        if (Capacity::of($this) === 'raise') return Capacity::addMany($this, $keys, $this->put(...));
        $new = $this->put($keys);
        $count = array_sum($new);
        Capacity::countNew($this, $count);
        return $new;
    }

    /** @return list<bool> */
    protected function put(array $keys): array
    {
        $this->rebuilt?->put($keys);
        if ($this->d->kind === Params::FIXED) {
            $positions = $this->positions($keys);
            foreach ($this->parts[0]->store->addMany($positions) as $present) $new[] = !$present;
        } else foreach ($keys as $i => $key)
            try {
                $new[] = $this->addGrowing($key);
            } catch (\BloomFilterException $e) {
                if ($e->getCode() === \BloomFilterException::FULL) Keys::setIndex($e, $i);
                throw $e;
            }
        return $new ?? [];
    }

    public function existMany(array $keys): array
    {
        if ($this->d->kind === Params::GROW) return array_map($this->existsGrowing(...), $keys);
        $positions = $this->positions($keys);
        return $this->parts[0]->store->testMany($positions);
    }

    public function removeMany(array $keys): array
    {
        $this->checkWritable();
        if ($this->d->kind === Params::GROW) return array_map($this->removeGrowing(...), $keys);
        if (Capacity::countsRoom($this)) return array_map($this->removeAndGiveRoom(...), $keys);
        $positions = $this->positions($keys);
        return $this->parts[0]->store->removeMany($positions);
    }

    public function countMany(array $keys): array
    {
        if ($this->d->kind === Params::GROW) return array_map($this->countGrowing(...), $keys);
        $positions = $this->positions($keys);
        return $this->parts[0]->store->countMany($positions);
    }

    /**
     * The answers to hashes of 8 bytes, little-endian.
     * @return list<bool>
     */
    public function hashes(string $packed, string $method): array
    {
        if ($odd = \strlen($packed) % 8 ? \strlen($packed) : 0)
            throw new \ValueError("BloomFilter::$method(): Argument #1 (\$hashes) must hold 8 bytes per hash, $odd bytes given");
        if (!$this->d->scheme->hashed)
            throw Fault::value('a filter of scheme %s takes keys: hashes need a filter of scheme hashes64', $this->d->scheme->name);
        if ($method === 'addHashes') Capacity::begin($this);
        $hashes = $packed === '' ? [] : array_values(unpack('P*', $packed));
        for ($answers = []; $some = \array_slice($hashes, \count($answers), $this->batch ?: 256); )
            try {
                array_push($answers, ...($method === 'addHashes' ? $this->addMany($some) : $this->existMany($some)));
            } catch (\BloomFilterException $e) {
                if (isset($e->index)) Keys::setIndex($e, $e->index + \count($answers));
                throw $e;
            }
        return $answers;
    }

    private function removeAndGiveRoom(string|int $key): bool
    {
        $positions = $this->positions([$key]);
        $removed = $this->parts[0]->store->removeMany($positions)[0];
        if ($removed && !$this->existMany([$key])[0]) Capacity::giveRoom($this, 1);
        return $removed;
    }

    /** @return list<list<int>> */
    protected function positions(array $keys): array
    {
        $place = $this->parts[0]->place;
        foreach ($keys as $key) {
            $digest = $place->digest($key);
            $positions[] = $place->of($digest);
        }
        return $positions ?? [];
    }

    /** @return list<int> those of the part that a new key goes to */
    public function hashcode(string $key): array
    {
        $this->follow();
        $part = end($this->parts);
        if ($this->isFull($part) && $next = Signals::held($this->next(...))) {
            $start = $this->m();
            $part = new Part($next, $part->store, $this->secret, $start);
        }
        $digest = $part->place->digest($key);
        $positions = $part->place->of($digest);
        return array_map(fn(int $at) => $part->start + $at, $positions);
    }

    // ---- growing ----

    protected function isFull(Part $part): bool { return $this->d->kind === Params::GROW && !$this->atLimit && $part->d->live >= $part->d->n; }

    /** The parameters of the part after the newest. */
    protected function next(): ?Params
    {
        $from = $this->parts ? $this->m() : 0;
        return \count($this->parts) < 256 ? Sizing::part($this->d, \count($this->parts), $from) : null;
    }

    /** Appends part number $count; without a limit, so that the newest takes all keys, if there is none any more. */
    public function grow(int $count): void
    {
        Signals::held(function () use ($count) {
            $next = $this->next();
            if (!$next && Capacity::of($this) !== 'ignore') throw Capacity::full($this, 0);
            if (!$next) $this->atLimit = true;
            else $this->appendNext($next, $count);
        });
    }

    protected function appendNext(Params $next, int $count): void
    {
        $this->parts += [$count => new Part($next, new Memory($next), $this->secret, $this->m())];     // += keeps a signal handler's
    }

    /**
     * One of the first parts that has a key.  Of counters the oldest: an older part gets no new counter above 0, so the part of a key stays the same, and
     * a removal lowers the counters that its add has raised.
     */
    private function partWith(int $digest, int $parts): ?Part
    {
        foreach ($this->d->counting ? range(0, $parts) : range($parts, 0) as $i)
            if ($i < $parts && $this->parts[$i]->store->testMany([$this->parts[$i]->place->of($digest)])[0]) return $this->parts[$i];
        return null;
    }

    private function existsGrowing(string|int $key): bool
    {
        $digest = $this->parts[0]->place->digest($key);
        for ($known = 0; $known < $count = \count($this->parts); $known = $count) {
            if ($this->partWith($digest, $count)) return true;
            $this->follow();
        }
        return false;
    }

    private function addGrowing(string|int $key): bool
    {
        $digest = $this->parts[0]->place->digest($key);
        for (;;) {
            $count = \count($this->parts);
            $newest = $this->parts[$count - 1];
            $full = $this->isFull($newest);
            $part = $this->partWith($digest, $count - (int) (!$full && !$this->d->counting));
            if ($part && $this->d->counting) $part->store->addMany([$part->place->of($digest)]);
            if ($part) return false;
            if (!$full && $newest->store->addMany([$newest->place->of($digest)])[0]) return false;
            if (!$full) return (bool) ++$newest->d->live;
            $this->grow($count);
        }
    }

    private function removeGrowing(string|int $key): bool
    {
        $digest = $this->parts[0]->place->digest($key);
        $part = $this->partWith($digest, \count($this->parts));
        if (!$part || !$part->store->removeMany([$positions = $part->place->of($digest)])[0]) return false;
        if ($part === end($this->parts) && $part->d->live && !$part->store->testMany([$positions])[0]) $part->d->live--;
        return true;
    }

    private function countGrowing(string|int $key): int
    {
        $digest = $this->parts[0]->place->digest($key);
        $part = $this->partWith($digest, \count($this->parts));
        return $part ? $part->store->countMany([$part->place->of($digest)])[0] : 0;
    }

    // ---- whole filters ----

    /** An empty filter in memory with the same parameters. */
    public function emptyCopy(): self { return self::memory(clone $this->d, $this->secret)->withOverfull(Capacity::of($this)); }

    public function copy(): self
    {
        $this->follow();
        $copy = self::shell(clone $this->d, $this->secret);
        foreach ($this->parts as $part) $copy->append($part->copy($this->secret));
        $copy->atLimit = $this->atLimit;
        return $copy->withOverfull(Capacity::of($this));
    }

    /** Other bits in the place of those of all parts; $how: 'cleared', 'rebuilt', 'united', 'intersected'. */
    public function replaceAll(string $bits, string $how): void
    {
        foreach ($this->parts as $part) {
            $part->store->replace(substr($bits, 0, $part->d->bytes()));
            $bits = substr($bits, $part->d->bytes());
        }
    }

    public function allBits(): string { return implode('', array_map(fn(Part $part) => $part->bits(), $this->parts)); }

    public function clear(): void
    {
        $this->checkWritable();
        $this->follow();
        if ($this->d->kind === Params::GROW) foreach ($this->parts as $part) $part->d->live = 0;
        $this->replaceAll(str_repeat("\0", array_sum(array_map(fn(Part $part) => $part->d->bytes(), $this->parts))), 'cleared');
        Capacity::checkSoon($this);
    }

    public function sync(): void {}
    public function checkIdle(): void {}
    /** False: the file has been replaced or deleted. */
    public function isCurrent(): bool { return true; }

    public function checkRebuildable(): void
    {
        if ($this->d->kind === Params::GROW && !$this->batch)
            throw Fault::unsupported('%.60s grows: it cannot be rebuilt outside of Redis, its parts follow from the keys it had; create another one', $this->where());
        $this->checkWritable();
        Placement::checkTakesKeys($this->d);
    }

    /** This filter, for a while: what is added goes into the other one too. */
    public function besides(?self $other): self
    {
        $f = (new self($this->d, $this->secret))->withOverfull(Capacity::of($this));
        [$f->parts, $f->rebuilt] = [$this->parts, $other];
        return $f;
    }

    public function expire(float $seconds): void { throw Fault::unsupported('home %s cannot expire: only filters in Redis can', $this->home); }
    public function delete(): void { throw Fault::unsupported('home %s cannot be deleted: only filters in Redis can', $this->home); }

    /** For what needs all bits at once. */
    public function bits(string $what): string
    {
        if ($this->d->kind === Params::GROW)
            throw Fault::value('a filter that grows or forgets cannot %s: its bits are in many parts', $what);
        return $this->parts[0]->bits();
    }
}
