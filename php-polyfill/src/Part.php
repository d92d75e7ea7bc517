<?php
namespace Bloomfilter\Polyfill;

/** One bitmap of a filter: a filter of fixed size has one. */
final class Part
{
    public Placement $place;

    public function __construct(public Params $d, public Store $store, ?Secret $secret, public int $start = 0)
    {
        $this->place = new Placement($d, $secret);
    }

    public function bits(): string { return $this->store->read(0, $this->d->bytes()); }

    /** A copy in memory. */
    public function copy(?Secret $secret): self
    {
        $memory = $this->store instanceof Memory ? clone $this->store : new Memory($this->d);
        $copy = new self(clone $this->d, $memory, $secret, $this->start);
        if (!$this->store instanceof Memory) $memory->replace($this->bits());
        return $copy;
    }

    public function ones(): int
    {
        $there = !$this->d->counting && !$this->store instanceof Memory && !$this->store instanceof File;
        return $there ? $this->store->ones(0, $this->d->m + 7 >> 3) : Bits::ones($this->bits(), $this->d->counting);
    }
}
