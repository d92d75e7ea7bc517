<?php
namespace Bloomfilter\Polyfill\Redis;

use Bloomfilter\Polyfill\{Fault, Numbers, Params, Store};

/** A filter cut into equal slices, each a key of its own: K:0, K:1, ...  K:meta says what they are. */
final class Shards implements Store
{
    /** @var list<Key> */
    private array $shards = [];
    private int $cells;

    public function __construct(private Key $whole, private Params $d)
    {
        $this->cells = intdiv($d->m, $d->shards);
        for ($i = 0; $i < $d->shards; $i++) {
            $shard = $this->shards[] = new Key($whole->client, "$whole->key:$i", $whole->key);
            $shard->take($d);
            $shard->waitReplicas = $whole->waitReplicas;
        }
    }

    private function name(): void
    {
        foreach ($this->shards as $shard) $shard->of = sprintf('%08x %s', $this->whole->id, $this->whole->meta);
    }

    /** K:meta first; what is missing of the shards is made. */
    public function make(int $seen): bool
    {
        $id = Numbers::random();
        $hash = Meta::fields($this->whole, $this->d, $id);
        if ($this->whole->script('create', [$this->whole->key, $this->whole->meta], [$seen ? sprintf('%08x', $seen) : '', 'making', '1', ...$hash]) !== 1) return false;
        $this->whole->mark = $this->whole->id = $id;
        $this->open(true);
        return true;
    }

    public function open(bool $make): void
    {
        $this->name();
        foreach ($this->shards as $shard) $this->openOne($shard, $make);
        if ($make) $this->wholeCommand('HDEL', 'making');
    }

    private function openOne(Key $shard, bool $make): void
    {
        for ($tries = 0; $tries < 8; $tries++) {
            [$meta, $bytes, $end] = $shard->look();
            if ($meta && $meta->d->differenceTo($this->d, Params::SAME_BITS))
                throw Fault::fail(\BloomFilterException::MISMATCH, '%s is a shard of another filter: %s m=%d k=%d shards=%d', $shard->label, $meta->d->scheme->name, $meta->d->m, $meta->d->k, $meta->d->shards);
            if ($meta && $meta->filter === $shard->of && $bytes === $shard->length() && $end === $meta->mark) {
                [$shard->mark, $shard->id] = [$meta->mark, $meta->id];
                return;
            }
            if (!$make) throw Fault::fail(\BloomFilterException::LOST, '%s is lost (deleted, expired, evicted or overwritten): create it again', $shard->label);
            if ($shard->create($meta->mark ?? 0) === 1) return;
        }
        throw Fault::fail(\BloomFilterException::IO, '%s is created and deleted all the time: it could neither be opened nor created', $shard->label);
    }

    private function wholeCommand(string $command, string ...$argument): void
    {
        $this->whole->script('care', [$this->whole->meta], ['', sprintf('%08x', $this->whole->id), $command, ...$argument]);
    }

    /** Keys sorted by shard, answers in their order. */
    private function each(array $keys, string $method): array
    {
        foreach ($keys as $i => $positions) {
            $shard = intdiv($positions[0], $this->cells);
            foreach ($positions as $at) $sorted[$shard][$i][] = $at - $shard * $this->cells;
        }
        $answers = [];
        foreach ($sorted ?? [] as $shard => $some)
            $answers += array_combine(array_keys($some), $this->shards[$shard]->$method(array_values($some)));
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

    public function ones(): int { return array_sum(array_map(fn(Key $shard) => $shard->ones(), $this->shards)); }
    public function replace(string $bits): void { $this->exchange($bits, ''); }
    public function mustBeOwn(string $what): void {}

    public function exchange(string $bits, string $how): void
    {
        foreach ($this->shards as $i => $shard) $shard->exchange(substr($bits, $i * $this->bytes(), $this->bytes()), $how);
    }

    /** Every shard also after an error; K:meta last. */
    public function care(string $what, string $command, string ...$argument): void
    {
        foreach ($this->shards as $shard)
            try {
                $shard->care($what, $command, ...$argument);
            } catch (\BloomFilterException $e) {
                $first ??= $e;
            }
        if (!isset($first) || $command === 'DEL') $this->wholeCommand($command, ...$argument);
        if (isset($first)) throw $first;
    }
}
