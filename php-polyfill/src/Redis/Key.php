<?php
namespace Bloomfilter\Polyfill\Redis;

use Bloomfilter\Polyfill\{Fault, Numbers, Params, Store};

/**
 * A string of Redis with its mark after the last bit and its companion hash K:meta: a fixed filter, a shard, a part.  Each trip reads the mark last,
 * and every change is a script that looks at it first: so a key that was lost or replaced is an error, never "absent".
 */
final class Key implements Store
{
    public const MOST_BITS = (1 << 32) - 64;
    private const STEP = 1 << 20;
    private const TRIES = 8;

    public int $mark = 0;
    /** The mark that it was made with. */
    public int $id = 0;
    /** Another system's: no mark, no hash. */
    public bool $foreign = false;
    public int $waitReplicas = 0;
    /** The filter that it is a part or shard of: what K:meta has in the field filter. */
    public ?string $of = null;
    public string $label;
    public string $meta;
    private int $added = 0;
    private bool $reported = false;
    private bool $hasReadOnly = true;
    public Params $d;
    private int $bits;
    private int $markAt;

    public function __construct(public Client $client, public string $key, public string $owner)
    {
        $this->label = $client->label($key);
        $this->meta = Names::meta($client, $key);
    }

    public function take(Params $d): void
    {
        $this->d = $d;
        $this->bits = intdiv($d->bits(), $d->shards);
        $this->markAt = ($this->bits + 31 >> 5) * 4;
    }

    public function length(): int { return $this->markAt + ($this->apart() ? 0 : 4); }
    public function markAt(): int { return $this->markAt; }
    /** No room after the last bit: the mark is in K:meta alone. */
    public function apart(): bool { return $this->markAt > self::MOST_BITS >> 3; }

    // ---- trips ----

    /** @param list<list<int|string>> $commands  @return list<mixed> replies; the first refusal is thrown */
    public function trip(array $commands, ?string $done = null): array
    {
        $replies = $this->client->run(array_map(fn(array $command) => [$this->key, $command], $commands), $done, $this->label);
        foreach ($replies as $reply) if ($reply instanceof Refusal) throw $reply->exception($this->label);
        return $replies;
    }

    /** @return array{?Meta, int, int} its companion hash, its length, the mark at its end: read last, so that all is of the same bits where it is the hash's */
    public function look(): array
    {
        [$hash, $bytes, $end] = $this->trip([['HGETALL', $this->meta], ['STRLEN', $this->key], ['GETRANGE', $this->key, -4, -1]]);
        return [Meta::read($this, Meta::pairs($hash)), $bytes, Names::mark((string) $end)];
    }

    private function eval(string $script, array $keys, array $arguments): array { return ['EVAL', Names::script($script), count($keys), ...$keys, ...$arguments]; }

    public function script(string $script, array $keys, array $arguments): int
    {
        return (int) $this->trip([$this->eval($script, $keys, $arguments)], '')[0];
    }

    private function markCommands(): array
    {
        if ($this->foreign) return [];
        return $this->apart() ? [['STRLEN', $this->key], ['HGET', $this->meta, 'mark']] : [['GETRANGE', $this->key, $this->markAt, $this->markAt + 3]];
    }

    /** The mark from the last replies. */
    private function seen(array $replies): int
    {
        if (!is_string(end($replies) ?? '')) throw $this->unexpected();
        if (!$this->apart()) return Names::mark((string) end($replies));
        return $replies[count($replies) - 2] === $this->length() ? (int) hexdec((string) end($replies)) : 0;
    }

    public function presentMark(): int { return $this->seen($this->trip($this->markCommands())); }

    private function unexpected(): \BloomFilterException
    {
        $this->client->reset();
        return Fault::fail(\BloomFilterException::IO, '%s: unexpected reply', $this->label);
    }

    public function lost(): \BloomFilterException
    {
        return Fault::fail(\BloomFilterException::LOST, '%s is lost (deleted, expired, evicted or overwritten): create it again', $this->label);
    }

    /** Takes a mark that a script found in the place of the known one. */
    public function follow(int $seen): void { $this->replaced($seen); }

    /** Compares the mark that a trip found.  True: the bits were replaced, and what the trip read does not count. */
    private function replaced(int $seen): bool
    {
        if ($this->foreign) return false;
        if ($seen === $this->mark) return $this->reported = false;
        for ($i = 0; $i < self::TRIES; $i++) {
            if ($i) $seen = $this->presentMark();
            $meta = Meta::read($this, Meta::pairs($this->trip([['HGETALL', $this->meta]])[0]));
            if (!$meta) break;
            if ($meta->d->differenceTo($this->d, Params::SAME_BITS))
                throw Fault::fail(\BloomFilterException::MISMATCH, '%s was re-created as %s m=%d k=%d, here it is %s m=%d k=%d', $this->label,
                    $meta->d->scheme->name, $meta->d->m, $meta->d->k, $this->d->scheme->name, $this->d->m, $this->d->k);
            if ($seen === 0 || $meta->mark !== $seen) {
                if ($seen === 0) break;
                continue;
            }
            if ($this->of !== null && $meta->filter !== $this->of) break;
            $again = $meta->id !== $this->id && !$this->reported;
            [$this->mark, $this->id, $this->reported, $this->d->live] = [$meta->mark, $meta->id, false, $meta->keys];
            if (!$again) return true;
            [$gone, $this->added] = [$this->added, 0];
            throw Fault::fail(\BloomFilterException::IO, '%s was re-created: keys added before are gone (%d by this object)', $this->label, $gone);
        }
        $this->reported = true;
        throw $this->lost();
    }

    /** Repeats what reads until all of it came from the same bits. */
    private function reading(array $commands): array
    {
        $last = count($commands) - 1;
        $inside = str_starts_with($commands[$last][0], 'BITFIELD') && !$this->foreign && !$this->apart();     // the mark in the same reply
        if ($inside) array_push($commands[$last], 'GET', 'u32', $this->markAt * 8);
        for ($i = 0; $i < self::TRIES; $i++) {
            $replies = $this->trip($inside ? $commands : [...$commands, ...$this->markCommands()]);
            if ($inside && !is_array($replies[$last])) throw $this->unexpected();
            if ($this->foreign || !$this->replaced($inside ? (int) array_pop($replies[$last]) : $this->seen($replies))) return $replies;
        }
        throw Fault::fail(\BloomFilterException::IO, '%s is re-created too often: no reply', $this->label);
    }

    // ---- tests ----

    public function testMany(array $keys): array { return array_map(fn(int $least) => $least > 0, $this->countMany($keys)); }

    public function countMany(array $keys): array
    {
        if (!$keys) return [];
        $string = ($this->foreign ? $this->bits + 7 >> 3 : $this->length()) - 1;
        $whole = count($keys) >= 16 && $string < self::STEP && $string < 70 * count($keys) * count($keys[0]);
        $commands = $whole ? [['GETRANGE', $this->key, 0, $string]] : array_map(fn(array $key) => $this->test($key, count($keys) > 1), $keys);
        try {
            $replies = $this->reading($commands);
        } catch (\BloomFilterException $e) {
            if (!$this->hasReadOnly || !str_contains($e->getMessage(), 'unknown command')) throw $e;
            $this->hasReadOnly = false;             // Redis before 6.2
            return $this->countMany($keys);
        }
        foreach ($keys as $i => $positions) $answers[] = $this->least($positions, $replies[$whole ? 0 : $i], $whole ? 0 : null);
        return $answers;
    }

    /** The command that reads a key's cells: its line of 512 where all are in one, which costs half; a single key is one command with the mark. */
    private function test(array $positions, bool $many): array
    {
        $first = $positions[0] >> 9;
        foreach ($positions as $at) if ($at >> 9 !== $first) $first = null;
        if ($first !== null && $many) return ['GETRANGE', $this->key, $first * 64 * $this->d->cellBits(), ($first + 1) * 64 * $this->d->cellBits() - 1];
        $command = [$this->hasReadOnly ? 'BITFIELD_RO' : 'BITFIELD', $this->key];
        foreach ($positions as $at) array_push($command, 'GET', $this->d->counting ? 'u4' : 'u1', $this->d->counting ? "#$at" : $at);
        return $command;
    }

    /** $from: the first cell of a text; null: that of the key's line. */
    private function least(array $positions, mixed $reply, ?int $from): int
    {
        if (is_array($reply) ? count($reply) !== count($positions) : !is_string($reply)) throw $this->unexpected();
        if (is_array($reply)) return min($reply);
        $from ??= $positions[0] >> 9 << 9;
        $bits = $this->d->cellBits();
        $least = 15;
        foreach ($positions as $at) {
            $bit = ($at - $from) * $bits;
            $least = min($least, ord($reply[$bit >> 3] ?? "\0") >> 8 - $bits - ($bit & 7) & (1 << $bits) - 1);
        }
        return $least;
    }

    // ---- changes ----

    public function addMany(array $keys): array
    {
        $present = $this->change($keys, intdiv(1024, count($keys[0] ?? [0])), fn(array $some) => $this->foreign
            ? $this->eval('add_foreign', [$this->key, $this->meta], ['', $this->d->m, ...$this->places($some)])
            : $this->eval('add', $this->names(), [...$this->known(), ...$this->places($some)]), 'added');
        $this->added += count($present) - array_sum($present);
        return $present;
    }

    public function removeMany(array $keys): array
    {
        return $this->change($keys, min(50, intdiv(1500, count($keys[0] ?? [0]))),
            fn(array $some) => $this->eval('count_down', $this->names(), [...$this->known(), ...$this->places($some)]), 'removed');
    }

    /** K, and K:meta only where the mark is there: in a cluster that moves a slot several keys may have to wait. */
    private function names(): array { return $this->apart() ? [$this->key, $this->meta] : [$this->key]; }
    private function known(): array { return [$this->markAt, sprintf('%08x', $this->mark)]; }

    /** k, positions NUL-terminated, and by how much each counter rises. */
    private function places(array $keys, string $by = ''): array
    {
        $k = count($keys[0]);
        $text = '';
        foreach ($keys as $positions) {
            if ($this->d->counting && $by === '') {
                $distinct = array_unique($positions);
                sort($distinct);
                $all = ($all ?? '') . str_repeat("\1", count($distinct)) . str_repeat("\0", $k - count($distinct));
                $positions = array_pad($distinct, $k, $distinct[0]);
            }
            foreach ($positions as $at) $text .= $this->d->counting ? "#$at\0" : "$at\0";
        }
        return [$k, $text, $by ?: $all ?? ''];
    }

    /** @return list<bool> */
    private function change(array $keys, int $most, \Closure $script, string $done): array
    {
        if (!$keys) return [];
        $answers = [];
        $left = $keys;
        for ($i = 0; $i < self::TRIES; $i++) {
            $chunks = array_chunk($left, max($most, 1));
            $commands = array_map($script, $chunks);
            if ($this->waitReplicas) $commands[] = ['WAIT', $this->waitReplicas, 1000];
            $replies = $this->trip($commands, $done);
            foreach ($chunks as $j => $chunk) {
                if (($replies[$j][0] ?? null) === -1) {
                    if ($this->foreign) throw $this->lost();
                    // Of removes, what is left is sent again; of adds all: the bits of the earlier ones are gone.
                    $left = $done === 'added' ? $keys : array_slice($keys, count($answers));
                    if ($done === 'added') $answers = [];
                    $this->replaced($replies[$j][1]);
                    continue 2;
                }
                // The mark at the end shows that the reply is ours.
                if (!is_array($replies[$j]) || count($replies[$j]) !== count($chunk) + 1 || array_pop($replies[$j]) !== ($this->foreign ? 0 : $this->mark)) throw $this->unexpected();
                foreach ($replies[$j] as $had) $answers[] = $had === 1;
            }
            if ($this->waitReplicas && ($got = end($replies)) < $this->waitReplicas)
                throw Fault::fail(\BloomFilterException::IO, '%s: %s, but only %d of waitReplicas=%d replicas had it in time', $this->label, $done, $got, $this->waitReplicas);
            $this->reported = false;
            return $answers;
        }
        throw Fault::fail(\BloomFilterException::IO, '%s is re-created too often: no reply', $this->label);
    }

    // ---- whole bitmaps ----

    public function read(int $from, int $bytes): string
    {
        for ($text = '', $end = $from + $bytes, $at = $from; $at < $end; $at += self::STEP) {
            $n = min(self::STEP, $end - $at);
            $text .= str_pad((string) $this->reading([['GETRANGE', $this->key, $at, $at + $n - 1]])[0], $n, "\0");
        }
        $m = $this->bits;
        if ($m % 8 && $end > $m >> 3) $text[($m >> 3) - $from] = chr(ord($text[($m >> 3) - $from]) & ~(0xFF >> $m % 8));
        return $end > $m + 7 >> 3 ? substr($text, 0, ($m + 7 >> 3) - $from) . str_repeat("\0", $end - ($m + 7 >> 3)) : $text;
    }

    /** Counted by Redis, 16 MiB in a command. */
    public function ones(): int
    {
        $bytes = $this->bits + 7 >> 3;
        for ($at = 0; $at < $bytes; $at += 16 << 20) $commands[] = ['BITCOUNT', $this->key, $at, min($at + (16 << 20), $bytes) - 1];
        return array_sum(array_slice($this->reading($commands), 0, count($commands)));
    }

    /** Zeros and a mark under a temporary name.  The second SETRANGE is refused if the first took more than maxmemory. */
    private function zeros(string $temp, int $mark): void
    {
        $last = $this->apart() ? ['SETRANGE', $temp, $this->markAt - 1, "\0"] : ['SETRANGE', $temp, $this->markAt, pack('N', $mark)];
        $this->trip([$last, $last, ['EXPIRE', $temp, 600]], '');
    }

    private function discard(string $temp): void
    {
        try {
            $this->trip([['DEL', $temp]], '');
        } catch (\BloomFilterException) {
        }
    }

    private function evicted(): \BloomFilterException
    {
        return Fault::fail(\BloomFilterException::IO, '%s: its temporary key was evicted or deleted: nothing was changed', $this->label);
    }

    /** Makes zeros under a temporary name and gives them to $then, which has the new mark and names the key. */
    public function make(\Closure $then): int
    {
        $temp = Names::of($this->client, $this->key, sprintf('tmp:%08x%08x', Numbers::random(), Numbers::random()));
        $mark = Numbers::random();
        try {
            $this->zeros($temp, $mark);
            $done = $then($temp, $mark);
            if ($done < 0) throw $this->evicted();
        } catch (\Throwable $e) {
            $this->discard($temp);
            throw $e;
        }
        if ($done === 1) $this->mark = $this->id = $mark;
        return $done;
    }

    public function create(int $seen): int
    {
        return $this->make(fn(string $temp, int $mark) => $this->script('create', [$this->key, $this->meta, $temp],
            [$seen ? sprintf('%08x', $seen) : '', ...Meta::fields($this, $this->d, $mark)]));
    }

    public function replace(string $bits): void { $this->exchange($bits, ''); }

    /** $how: OR, AND, or '' to replace. */
    public function exchange(string $bits, string $how): void
    {
        $this->mustBeOwn($how === 'OR' ? 'be united' : ($how === 'AND' ? 'be intersected' : 'be rebuilt'));
        if ($how === 'OR' && $this->d->counting) {
            $this->countUp($bits);
            return;
        }
        $next = 0;
        $this->make(function (string $temp, int $mark) use ($bits, $how, &$next) {
            for ($at = $this->bits + 7 >> 3; $at > 0; $at -= $n) {
                $n = $at % self::STEP ?: self::STEP;
                if (trim($piece = substr($bits, $at - $n, $n), "\0") !== '')
                    $this->trip([['SETRANGE', $temp, $at - $n, $piece], ['EXPIRE', $temp, 600]], '');
            }
            for ($i = 0; $i < self::TRIES; $i++) {
                $this->replaced($this->presentMark());
                $done = $this->script('exchange', [$this->key, $this->meta, $temp], [...$this->known(), sprintf('%08x', $mark), pack('N', $mark), $how]);
                if ($done) $next = $how === 'OR' ? $this->mark : $mark;
                if ($done) return $done > 0 ? 0 : $done;
            }
            throw $this->lost();
        });
        $this->mark = $next;
    }

    /** Counters add up, 250 in a script. */
    private function countUp(string $counters): void
    {
        for ($places = [], $by = '', $i = 0, $n = $this->bits >> 2; $i <= $n; $i++) {
            $value = $i < $n ? ord($counters[$i >> 1]) >> ($i & 1 ? 0 : 4) & 15 : 0;
            if ($value) [$places[], $by] = [$i, $by . chr($value)];
            if (count($places) < ($i < $n ? 250 : 1)) continue;
            $this->change([$places], 1, fn(array $some) => $this->eval('add', $this->names(), [...$this->known(), ...$this->places($some, $by)]), 'added');
            [$places, $by] = [[], ''];
        }
    }

    public function mustBeOwn(string $what): void
    {
        if ($this->foreign) throw Fault::unsupported('%s has no :meta and no mark: it cannot %s', $this->label, $what);
    }

    /** PEXPIRE, PERSIST or DEL of K and K:meta, if the mark is the known one. */
    public function care(string $what, string $command, string ...$argument): void
    {
        $this->mustBeOwn($what);
        for ($i = 0; $i < self::TRIES; $i++) {
            $this->replaced($this->presentMark());
            if ($this->script('care', [$this->key, $this->meta], [...$this->known(), $command, ...$argument])) return;
        }
        throw $this->lost();
    }
}
