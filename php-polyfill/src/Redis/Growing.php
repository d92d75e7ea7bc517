<?php
namespace Bloomfilter\Polyfill\Redis;

use Bloomfilter\Polyfill\{Capacity, Fault, Keys, Numbers, Params, Part};

/** A filter that grows in Redis: its parts follow each other in one string.  core/redis/parts.c. */
final class Growing extends RedisFilter
{
    private const TRIES = 100;
    /** @var list<Params> */
    private array $taken = [];

    public function bind(Key $key): void
    {
        $this->store = $key;
        $this->takeParts();
    }

    /** The parts that the key has now, which may be those of a re-created filter. */
    private function takeParts(): void
    {
        if ($this->taken === $this->store->parts) return;
        [$this->taken, $this->parts, $this->atLimit] = [$this->store->parts, [], false];
        foreach ($this->taken as $d)
            $this->append(new Part($d, new Slice($this->store, intdiv($this->parts ? $this->m() * $d->cellBits() : 0, 8)), $this->secret));
    }

    public function follow(): void
    {
        try {
            $this->store->replaced(0);
        } finally {
            $this->takeParts();
        }
    }

    protected function appendNext(Params $next, int $count): void
    {
        $key = $this->store;
        $bits = $key->bits() + $next->bits();
        if ($bits > Key::MOST_BITS)
            throw Fault::fail(\BloomFilterException::FULL, '%.60s cannot grow further: its next part makes it m=%d %s, one Redis key holds %d: use a larger n or a file', $key->label,
                intdiv($bits, $next->cellBits()), $next->cells(), intdiv(Key::MOST_BITS, $next->cellBits()));
        $mark = Numbers::random();
        [$done] = $key->script('append', [$key->key, $key->meta], [...$this->known(), $bits >> 3, pack('N', $mark), sprintf('%08x', $mark), \count($key->parts), Meta::size($next)]);
        if ($done === 1) {
            $key->take($this->d, [...$key->parts, $next]);
            $key->mark = $mark;
        } else $this->follow();
        $this->takeParts();
    }

    private function known(): array { return [$this->store->markAt(), pack('N', $this->store->mark), sprintf('%08x', $this->store->mark)]; }

    // ---- keys ----

    /** @return list<list<int>> of each part the positions of a key in the string */
    private function places(string|int $key): array
    {
        $digest = $this->parts[0]->place->digest($key);
        return array_map(fn(Part $part) => array_map(fn(int $at) => $part->start + $at, $part->place->of($digest)), $this->parts);
    }

    /** How many keys go in one round trip. */
    private function most(int $positions, int $keys): int
    {
        $most = intdiv($positions, \count($this->parts) * $this->d->k);
        return $most > $keys ? $keys : ($most ?: 1);
    }

    public function existMany(array $keys): array
    {
        $found = [];
        for ($tries = 0; \count($found) < \count($keys); $tries++) {
            if ($tries === self::TRIES) throw $this->restless();
            $this->takeParts();
            $parts = \count($this->parts);
            $some = array_slice($keys, \count($found), $this->most(1 << 16, 1000));
            $places = array_map($this->places(...), $some);
            $places = array_merge(...$places);
            $least = $this->store->least($places);
            foreach ($least ? array_chunk($least, $parts) : [] as $of) [$found[], $tries] = [max($of) > 0, -1];
        }
        return $found;
    }

    protected function put(array $keys): array { return array_map(fn(int $part) => $part === 0, $this->run($keys, 'add', 'added')); }

    public function removeMany(array $keys): array
    {
        $this->checkWritable();
        return array_map(fn(int $part) => $part > 0, $this->run($keys, 'remove', 'removed'));
    }

    public function countMany(array $keys): array { return $this->run($keys, 'count', null); }

    private function restless(): \BloomFilterException
    {
        return Fault::fail(\BloomFilterException::IO, '%.80s: others changed its parts %d times during the call: not all keys were handled', $this->where(), self::TRIES);
    }

    /** An add of no keys stores the number of keys in the newest part. */
    public function storeKeys(): void { $this->runSome([], 'add', null); }

    /** @return list<int> the script's answers */
    private function run(array $keys, string $op, ?string $done): array
    {
        $answers = [];
        for ($tries = 0; $keys; $tries++) {
            if ($tries === self::TRIES) throw $this->restless();
            $some = array_slice($keys, 0, $this->most(12000, 100), true);
            foreach ($this->runSome($some, $op, $done) as $i => $answer) {
                $answers[$i] = $answer;
                unset($keys[$i]);
                $tries = -1;
            }
        }
        ksort($answers);
        return $answers;
    }

    /** One script: the answers that there are, under the keys' indices. */
    private function runSome(array $keys, string $op, ?string $done): array
    {
        $key = $this->store;
        $this->takeParts();
        $newest = end($this->parts)->d;
        $text = '';
        foreach ($keys as $one)
            foreach ($this->places($one) as $positions) {
                if ($this->d->counting) $positions = array_unique($positions);
                foreach ($positions as $at) $text .= str_pad((string) $at, 11, "\0");
                $text .= str_repeat("\0", 11 * ($this->d->k - \count($positions)));
            }
        $most = $newest->n + ($this->atLimit ? PHP_INT_MAX >> 2 : 0);
        $answer = $key->script($this->d->counting ? 'count' : 'put', [$key->key, $key->meta],
            [...$this->known(), \count($this->parts), $this->d->k, $most, $newest->live, $text, $op], $done);
        if ($answer === [-1]) {
            $this->follow();
            return [];
        }
        if ($done !== null && $key->waitReplicas) $key->client->wait($key->waitReplicas, $done, $key->label);
        $newest->live = array_shift($answer);
        $indices = array_keys($keys);
        $done = array_combine($indices, $answer);
        $done = array_filter($done, fn(int $part) => $part !== -2);
        try {
            if (\count($done) < \count($keys)) $this->grow(\count($this->parts));
        } catch (\BloomFilterException $e) {
            if ($e->getCode() === \BloomFilterException::FULL) Keys::setIndex($e, array_key_first(array_diff_key($keys, $done)));
            throw $e;
        }
        return $done;
    }
}
