<?php
namespace Bloomfilter\Polyfill\Redis;

use Bloomfilter\Polyfill\{Fault, Numbers, Params, Store};

/** A filter cut into equal slices, each a key of its own: K:0, K:1, ...  K:meta says what they are. */
final class Shards implements Store
{
    /** @var list<Key> */
    private array $shards = [];
    private Params $d;
    private int $cells;

    public function __construct(public Key $whole)
    {
        $this->d = $whole->d;
        $this->cells = intdiv($this->d->m, $this->d->shards);
        for ($i = 0; $i < $this->d->shards; $i++) {
            $shard = $this->shards[] = new Key($whole->client, "$whole->key:$i", $whole);
            $shard->take($this->d);
        }
    }

    /** K:meta first; what is missing of the shards is made. */
    public function make(int $seen): bool
    {
        $id = $this->whole->id = $seen ? Numbers::random() : $this->idOfShards();
        $fields = Meta::fields($this->whole, $id);
        if ($this->whole->script('create', [$this->whole->key, $this->whole->meta], [$seen ? sprintf('%08x', $seen) : '', '', 'making', '1', ...$fields]) !== 1) return false;
        $this->whole->mark = $id;
        $this->open(true);
        return true;
    }

    /** If only K:meta was lost, the filter keeps its id. */
    private function idOfShards(): int
    {
        foreach ($this->shards as $shard) if ($id = $shard->look()[0]?->filterId) return $id;
        return Numbers::random();
    }

    public function open(bool $make): void
    {
        foreach ($this->shards as $shard) $this->openOne($shard, $make);
        if ($make) $this->whole->careOfMeta('HDEL', 'making');
    }

    private function openOne(Key $shard, bool $make): void
    {
        for ($tries = 0; $tries < 8; $tries++) {
            [$meta, $bytes, $end] = $shard->look();
            if ($meta && $meta->d->differenceTo($this->d, Params::SAME_BITS))
                throw Fault::fail(\BloomFilterException::MISMATCH, '%s is a shard of another filter: %s m=%d k=%d shards=%d', $shard->label, $meta->d->scheme->name, $meta->d->m, $meta->d->k, $meta->d->shards);
            if ($meta && $meta->filterId === $this->whole->id && $shard->complete($meta, $bytes, $end)) {
                $shard->adoptState($meta);
                return;
            }
            $unmarked = $bytes && $meta?->filterId === $this->whole->id;
            if (!$make) throw $unmarked ? $shard->unmarked($bytes) : $shard->lost();
            if ($shard->create($meta->mark ?? 0)) return;
        }
        throw $unmarked ? $shard->unmarked($bytes) : Opening::restless($shard->label);
    }

    /** Keys sorted by shard, answers in their order. */
    private function each(array $keys, string $method): array
    {
        foreach ($keys as $i => $positions) {
            $shard = intdiv($positions[0], $this->cells);
            foreach ($positions as $at) $sorted[$shard][$i][] = $at - $shard * $this->cells;
        }
        $answers = [];
        foreach ($sorted ?? [] as $shard => $some) {
            $which = array_keys($some);
            $some = array_values($some);
            $some = $this->shards[$shard]->$method($some);
            $answers += array_combine($which, $some);
        }
        ksort($answers);
        return $answers;
    }

    public function testMany(array $keys): array { return $this->each($keys, 'testMany'); }
    public function addMany(array $keys): array { return $this->each($keys, 'addMany'); }
    public function removeMany(array $keys): array { return $this->each($keys, 'removeMany'); }
    public function countMany(array $keys): array { return $this->each($keys, 'countMany'); }

    private function bytes(): int { return intdiv($this->d->bytes(), $this->d->shards); }

    public function read(int $from, int $bytes): string
    {
        $all = '';
        foreach ($this->shards as $shard) $all .= $shard->read(0, $this->bytes());
        return substr($all, $from, $bytes);
    }

    public function ones(int $from, int $bytes): int { return array_sum(array_map(fn(Key $shard) => $shard->ones(), $this->shards)); }
    public function replace(string $bits): void { $this->exchange($bits, 'REPLACE'); }
    public function mustBeOwn(string $what): void {}

    public function exchange(string $bits, string $how): void
    {
        foreach ($this->shards as $i => $shard) $shard->exchange(substr($bits, $i * $this->bytes(), $this->bytes()), $how);
    }

    public function isCurrent(): bool
    {
        foreach ($this->shards as $shard) if (!$shard->isCurrent()) return false;
        return $this->whole->look()[0]?->id === $this->whole->id;
    }

    /** Every shard also after an error, unless another filter has taken the place of this one; K:meta last. */
    public function care(string $what, string $command, string ...$argument): void
    {
        foreach ($this->shards as $shard) {
            $mark = $shard->mark;
            try {
                $shard->care($what, $command, ...$argument);
            } catch (\BloomFilterException $e) {
                $first ??= $e;
                if ($shard->mark !== $mark) throw $first;
            }
        }
        if ((!isset($first) || $command === 'DEL') && !$this->whole->careOfMeta($command, ...$argument)) $first ??= $this->whole->lost();
        if (isset($first)) throw $first;
    }
}
