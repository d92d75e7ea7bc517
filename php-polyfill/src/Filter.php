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
    /** Adds ask checkAdd() first: read-only, or overfull: 'raise'. */
    protected bool $guarded = false;
    /** New keys until the next look at how full it is, by the object's number: == compares filters by their bits, so what equal ones differ in is not a property. */
    public static array $untilCheck = [];
    /** 'warn', 'raise' or 'ignore', where it was given. */
    public static array $overfull = [];
    /** Keys per call of the store; 0: it is in this process. */
    public int $batch = 0;
    /** Takes the keys that are added while it is filled to take this one's place. */
    public ?self $rebuilt = null;
    /** @var list<Part> */
    public array $parts = [];
    protected bool $atLimit = false;

    final public function __construct(public Params $d, public ?Secret $secret) {}

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

    protected function checkAdd(): void
    {
        $this->room();
        $this->checkWritable();
    }

    /** How many new keys may be added before this is asked again. */
    public function room(): int { return $this->overfull() === 'raise' ? State::room($this) : PHP_INT_MAX; }

    public function checkWritable(): void
    {
        if ($this->readOnly !== null)
            throw Fault::unsupported('%.80s is open read-only%s: nothing can be added or changed', $this->where(), $this->readOnly);
    }

    public function __destruct() { unset(self::$untilCheck[$id = spl_object_id($this)], self::$overfull[$id]); }

    public function withOverfull(?string $overfull): static
    {
        if ($overfull !== null) self::$overfull[spl_object_id($this)] = $overfull;
        if ($overfull === 'raise') [$this->guarded, self::$untilCheck[spl_object_id($this)]] = [true, 0];
        return $this;
    }

    public function overfull(): ?string { return self::$overfull[spl_object_id($this)] ?? null; }

    // ---- keys ----

    /** True: it is surely new. */
    public function add(string $key): bool { return $this->addMany([$key])[0]; }
    public function exists(string $key): bool { return $this->existMany([$key])[0]; }

    /**
     * @param list<string> $keys
     * @return list<bool>
     */
    public function addMany(array $keys): array
    {
        if ($this->guarded) $this->checkAdd();
        $this->rebuilt?->addMany($keys);
        if ($this->d->kind === Params::GROW) $new = array_map($this->addGrowing(...), $keys);
        else foreach ($this->parts[0]->store->addMany($this->positions($keys)) as $present) $new[] = !$present;
        $added = array_sum($new ?? []);
        if ($added) $this->countNew($added);
        return $new ?? [];
    }

    public function existMany(array $keys): array
    {
        if ($this->d->kind === Params::GROW) return array_map($this->existsGrowing(...), $keys);
        return $this->parts[0]->store->testMany($this->positions($keys));
    }

    public function removeMany(array $keys): array
    {
        $this->checkWritable();
        return $this->parts[0]->store->removeMany($this->positions($keys));
    }

    public function countMany(array $keys): array { return $this->parts[0]->store->countMany($this->positions($keys)); }

    protected function countNew(int $new): void
    {
        $left = &self::$untilCheck[spl_object_id($this)];
        if (($left -= $new) < 0) State::warnIfFull($this);
    }

    /** @return list<list<int>> */
    protected function positions(array $keys): array
    {
        $place = $this->parts[0]->place;
        foreach ($keys as $key) $positions[] = $place->of($place->digest($key));
        return $positions ?? [];
    }

    /** @return list<int> those of the part that a new key goes to */
    public function hashcode(string $key): array
    {
        $this->follow();
        $part = end($this->parts);
        if ($this->isFull($part) && $next = $this->next()) $part = new Part($next, $part->store, $this->secret, $this->m());
        return array_map(fn(int $at) => $part->start + $at, $part->place->of($part->place->digest($key)));
    }

    // ---- growing ----

    protected function isFull(Part $part): bool { return $this->d->kind === Params::GROW && !$this->atLimit && $part->d->live >= $part->d->n; }

    /** The parameters of the part after the newest. */
    protected function next(): ?Params
    {
        return count($this->parts) < 256 ? Sizing::part($this->d, count($this->parts), $this->parts ? $this->m() : 0) : null;
    }

    private function has(int $digest, int $parts): bool
    {
        for ($i = $parts; $i-- > 0;)
            if ($this->parts[$i]->store->testMany([$this->parts[$i]->place->of($digest)])[0]) return true;
        return false;
    }

    private function existsGrowing(string $key): bool
    {
        $digest = $this->parts[0]->place->digest($key);
        for ($known = 0; $known < $count = count($this->parts); $known = $count) {
            if ($this->has($digest, $count)) return true;
            $this->follow();
        }
        return false;
    }

    private function addGrowing(string $key): bool
    {
        $digest = $this->parts[0]->place->digest($key);
        for (;;) {
            $count = count($this->parts);
            $newest = $this->parts[$count - 1];
            $full = $this->isFull($newest);
            if ($this->has($digest, count($this->parts) - (int) !$full)) return false;
            if (!$full && $newest->store->addMany([$newest->place->of($digest)])[0]) return false;
            if (!$full) return (bool) ++$newest->d->live;
            $next = $this->next();
            if (!$next) $this->atLimit = true;
            else $this->parts += [$count => new Part($next, new Memory($next), $this->secret, $newest->start + $newest->d->m)];   // += keeps a signal handler's
        }
    }

    // ---- whole filters ----

    /** An empty filter in memory with the same parameters. */
    public function emptyCopy(): self { return self::memory(clone $this->d, $this->secret)->withOverfull($this->overfull()); }

    public function copy(): self
    {
        $this->follow();
        $copy = self::shell(clone $this->d, $this->secret);
        foreach ($this->parts as $part) $copy->append($part->copy($this->secret));
        $copy->atLimit = $this->atLimit;
        return $copy->withOverfull($this->overfull());
    }

    /** Other bits in place of those of part i; $how: 'cleared', 'rebuilt', 'united', 'intersected'. */
    public function replace(int $i, string $bits, string $how): void { $this->parts[$i]->store->replace($bits); }

    public function clear(): void
    {
        $this->checkWritable();
        $this->follow();
        foreach ($this->parts as $i => $part) {
            $this->replace($i, str_repeat("\0", $part->d->bytes()), 'cleared');
            if ($this->d->kind === Params::GROW) $part->d->live = 0;
        }
        self::$untilCheck[spl_object_id($this)] = 0;
    }

    public function sync(): void {}
    /** False: the file has been replaced or deleted. */
    public function isCurrent(): bool { return true; }

    public function checkRebuildable(): void
    {
        if ($this->d->kind === Params::GROW)
            throw Fault::unsupported('%.60s grows: it cannot be rebuilt, its parts follow from the keys it had; create another one', $this->where());
        $this->checkWritable();
    }

    /** This filter, for a while: what is added goes into the other one too. */
    public function besides(self $other): self
    {
        $f = new self($this->d, $this->secret);
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
