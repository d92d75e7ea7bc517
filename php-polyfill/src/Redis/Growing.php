<?php
namespace Bloomfilter\Polyfill\Redis;

use Bloomfilter\Polyfill\{Capacity, Fault, Numbers, Params, Part, Sizing};

/** A filter that grows in Redis: part i is the key {K}:p<i>; K:meta has how many there are.  core/redis/scalable.c. */
final class Growing extends RedisFilter
{
    /** The newest part's mark when K:meta was read: another one says that there may be a later part. */
    private int $lastMark = 0;

    /** Takes its parts from the key, unless it is to be made. */
    public function bind(Key $key, bool $open = true): void
    {
        $this->store = $key;
        if ($open) $this->follow();
    }

    private function key(int $i): Key { return new Key($this->store->client, Names::of($this->store->key, "p$i"), $this->store); }

    /** Opens parts that others appended.  The newest mark is read before K:meta: so it has no later part while it stays. */
    public function follow(): void
    {
        do {
            $had = count($this->parts);
            $this->lastMark = $had ? end($this->parts)->store->mark : 0;
            [$born, $count] = $this->store->query([['HMGET', $this->store->meta, 'born', 'parts']])[0];
            if (!is_string($born) || (int) $count < $had) throw $this->store->lost();
            if (hexdec($born) !== $this->store->id) $this->recreated();
            for ($i = $had; $i < (int) $count; $i++) $this->open($i);
        } while ($i > $had);
    }

    private function recreated(): never
    {
        $meta = $this->store->look()[0] ?? throw $this->store->lost();
        if ($meta->d->differenceTo($this->d, Params::SAME_FILTER) || $meta->d->n !== $this->d->n || $meta->d->p !== $this->d->p)
            throw Fault::fail(\BloomFilterException::MISMATCH, '%s was re-created with other parameters: open it again', $this->store->label);
        $this->store->id = $meta->id;
        [$this->parts, $this->atLimit] = [[], false];
        $this->open(0);
        throw Fault::fail(\BloomFilterException::IO, '%s was re-created: keys added before are gone', $this->store->label);
    }

    private function open(int $i): void
    {
        $key = $this->key($i);
        [$meta, $bytes, $end] = $key->look();
        if (!$meta || $bytes === 0) throw $key->lost();
        $d = $meta->d;
        [$d->kind, $d->index] = [Params::PART, $i];
        $key->take($d);
        if ($bytes !== $key->length() || $end !== $meta->mark || $meta->filterId !== $this->store->id) throw $key->lost();
        if ($d->differenceTo($this->d, Params::SAME_HASH)) throw Fault::fail(\BloomFilterException::FORMAT, '%s: its part %d does not belong to it', $this->store->label, $i);
        if (!Sizing::partPossible($this->d, $d))
            throw Fault::fail(\BloomFilterException::FORMAT, '%s: its part %d has n=%d, which does not fit m=%d, p=%g, k=%d', $this->store->label, $i, $d->n, $d->m, $d->p, $d->k);
        $key->adoptState($meta);
        $this->append(new Part($d, $key, $this->secret));
    }

    public function makeFirst(): bool
    {
        $lost = $this->store->id ? sprintf('%08x', $this->store->id) : '';
        $this->store->id = Numbers::random();
        return $this->make($this->next(), $lost) === 1;
    }

    /** 1: made; 0, 2: others were faster. */
    private function make(Params $d, string $lost = ''): int
    {
        $i = count($this->parts);
        if ($d->m > Key::MOST_BITS)
            throw Fault::value('%s cannot grow further: its next part has m=%d bits, and one Redis key holds at most %d', $this->store->label, $d->m, Key::MOST_BITS);
        $key = $this->key($i);
        $key->take($d);
        $next = Numbers::random();
        $done = $key->make(function (string $temp, int $mark) use ($key, $i, $next, $lost) {
            $before = $i ? $this->parts[$i - 1]->store : $this->store;
            $names = [$before->key, $before->meta, $temp, $key->key, $key->meta, $this->store->meta];
            for ($j = 1; !$i && $j < 256; $j++) array_push($names, $this->key($j)->key, $this->key($j)->meta);
            $whole = $i ? [] : Meta::ofGrowing($this->store);
            $key->mark = $key->id = $mark;
            $key->filterId = $this->store->id;
            return $key->script('append', $names, [$i ? $before->markAt() : $key->markAt(), $i ? sprintf('%08x', $before->mark) : $lost, pack('N', $next),
                sprintf('%08x', $next), $i, count($whole), ...$whole, ...Meta::fields($key, $mark)]);
        });
        if ($done === 3) throw Fault::fail(\BloomFilterException::FORMAT, '%s holds bytes that are not a part of this filter: use another key, or delete them', $key->label);
        if ($done !== 1) return $done;
        if ($i) $this->parts[$i - 1]->store->mark = $next;
        $this->append(new Part($key->d, $key, $this->secret));
        $this->lastMark = $key->mark;
        return 1;
    }

    // ---- keys ----

    public function existMany(array $keys): array
    {
        $found = array_fill(0, count($keys), false);
        for ($from = 0; $from < $count = count($this->parts); $from = $count) {
            for ($i = $count; $i-- > $from;) {
                $open = array_keys($found, false, true);
                if (!$open) return $found;
                $part = $this->parts[$i];
                $positions = array_map(fn(int $key) => $part->place->of($part->place->digest($keys[$key])), $open);
                foreach ($part->store->testMany($positions) as $j => $has) $found[$open[$j]] = $has;
            }
            if (end($this->parts)->store->mark !== $this->lastMark) $this->follow();
        }
        return $found;
    }

    protected function put(array $keys): array
    {
        $new = [];
        for ($tries = 0; count($new) < count($keys); $tries++) {
            if ($tries === 1024) throw Fault::fail(\BloomFilterException::IO, '%.80s: others changed its parts %d times during the call: not all keys were added', $this->where(), 1024);
            $some = array_slice($keys, count($new), max(1, min(100, intdiv(12000, count($this->parts) * $this->d->k))));
            $before = count($new);
            array_push($new, ...$this->putSome($some, $before));
            $tries = count($new) > $before ? 0 : $tries;
        }
        return $new;
    }

    /** One script: answers of the keys up to the first that has no room. */
    private function putSome(array $keys, int $index): array
    {
        $newest = end($this->parts);
        $names = array_map(fn(Part $part) => $part->store->key, $this->parts);
        $arguments = [];
        foreach ($this->parts as $part) {
            $text = '';
            foreach ($keys as $key) foreach ($part->place->of($part->place->digest($key)) as $at) $text .= str_pad((string) $at, 11, "\0");
            array_push($arguments, $part->store->markAt(), pack('N', $part->store->mark), $text);
        }
        $most = $newest->d->n + ($this->atLimit ? PHP_INT_MAX >> 2 : 0);
        $answer = $this->store->script('put', [...$names, $newest->store->meta, $this->store->meta], [$this->d->k, $most, $newest->d->live, sprintf('%08x', $this->store->id), ...$arguments], 'added');
        if ($answer[0] === -3) $this->follow();
        if ($answer[0] < 0) {
            foreach ($this->parts as $i => $part) $part->store->replaced($answer[$i + 1] ?? 0);
            $this->follow();
            return [];
        }
        $newest->d->live = $answer[0];
        $new = [];
        foreach (array_slice($answer, 1) as $part) {
            if ($part === -2) {
                $next = $this->next();
                if (!$next && Capacity::of($this) !== 'ignore') throw Capacity::full($this, $index + count($new));
                if (!$next) $this->atLimit = true;
                elseif ($this->make($next) !== 1) $this->follow();
                break;
            }
            $new[] = $part === 0;
        }
        if ($new && $this->store->waitReplicas) $this->store->client->wait($this->store->waitReplicas, 'added', $this->store->label);
        return $new;
    }

    // ---- whole filters ----

    public function replaceAll(string $bits, string $how): void
    {
        $this->checkWritable();
        foreach ($this->parts as $part) {
            $part->store->exchange(substr($bits, 0, $part->d->bytes()), $how === 'united' ? 'OR' : 'REPLACE');
            $bits = substr($bits, $part->d->bytes());
        }
    }

    public function expire(float $seconds): void
    {
        $this->checkWritable();
        $this->follow();
        foreach ($this->parts as $part) $part->store->care('expire', ...self::expiry($seconds));
        if (!$this->store->careOfMeta(...self::expiry($seconds))) throw $this->store->lost();
    }

    public function delete(): void
    {
        $this->checkWritable();
        $this->follow();
        if (!$this->store->careOfMeta('DEL')) throw $this->store->lost();
        foreach (array_reverse($this->parts) as $part)
            try {
                $part->store->care('be deleted', 'DEL');
            } catch (\BloomFilterException $e) {
                if ($e->getCode() !== \BloomFilterException::LOST) throw $e;
            }
    }
}
