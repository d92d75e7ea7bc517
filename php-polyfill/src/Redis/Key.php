<?php
namespace Bloomfilter\Polyfill\Redis;

use Bloomfilter\Polyfill\{Fault, Numbers, Params, Store};

/**
 * A string of Redis with the bits of all parts, its mark after the last bit, and its companion hash K:meta: a filter or a shard.  Each round trip reads
 * the mark, and every change is a script that looks at it first: so bits that were lost or replaced are an error, never "absent".
 */
final class Key implements Store
{
    public const MOST_BITS = (1 << 32) - 64;
    private const STEP = 1 << 20;
    private const TRIES = 8;
    /** Commands as arguments: number of words, words, and so on.  Their replies; the first that fails ends it. */
    private const EACH = "local r,i={},1 while i<=#ARGV do local n=tonumber(ARGV[i]) local v=redis.pcall(unpack(ARGV,i+1,i+n)) "
        . "if type(v)=='table' and v.err then return v end r[#r+1]=v i=i+n+1 end return r";

    public int $mark = 0;
    /** The mark that it was made with. */
    public int $id = 0;
    /** Another system's: no mark, no hash. */
    public bool $foreign = false;
    public int $waitReplicas = 0;
    /** Of a shard: the filter's id in its K:meta. */
    public int $filterId = 0;
    public string $label;
    public string $meta;
    public Params $d;
    /** @var list<Params> of a filter that grows */
    public array $parts = [];
    private int $added = 0;
    private bool $reported = false;
    private bool $hasReadOnly = true;
    private int $bits;
    private int $markAt;

    /** @param ?self $whole of a shard: its filter */
    public function __construct(public Client $client, public string $key, public ?self $whole = null)
    {
        $this->label = $client->label($key);
        $this->meta = Names::meta($client, $key);
        $this->waitReplicas = $whole->waitReplicas ?? 0;
    }

    /** @param list<Params> $parts */
    public function take(Params $d, array $parts = []): void
    {
        [$this->d, $this->parts] = [$d, $parts];
        $this->bits = $parts ? array_sum(array_map(fn(Params $part) => $part->bits(), $parts)) : intdiv($d->bits(), $d->shards);
        $this->markAt = ($this->bits + 31 >> 5) * 4;
    }

    public function length(): int { return $this->markAt + ($this->apart() ? 0 : 4); }
    public function bits(): int { return $this->bits; }
    public function markAt(): int { return $this->markAt; }
    /** No room after the last bit: the mark is in K:meta alone. */
    public function apart(): bool { return $this->markAt > self::MOST_BITS >> 3; }

    // ---- round trips ----

    /** @return list<mixed> the replies of commands */
    public function query(array $commands, ?string $done = null): array
    {
        $words = $keys = [];
        foreach ($commands as $command) {
            array_push($words, \count($command), ...$command);
            if (!in_array($command[1], $keys, true)) $keys[] = $command[1];
        }
        return $this->client->run(self::EACH, $keys, $words, $done, $this->label);
    }

    public function script(string $script, array $keys, array $arguments, ?string $done = ''): mixed
    {
        return $this->client->run(Names::script($script), $keys, $arguments, $done, $this->label);
    }

    /** @return array{?Meta, int, int} its companion hash, its length, the mark at its end */
    public function look(): array
    {
        [$hash, $bytes, $end] = $this->query([['HGETALL', $this->meta], ['STRLEN', $this->key], ['GETRANGE', $this->key, -4, -1]]);
        return [Meta::read($this, $hash), $bytes, Names::mark((string) $end)];
    }

    /** Of a filter that grows one byte more is read: after the mark there must be none. */
    private function beyond(): int { return $this->parts ? 4 : 3; }

    private function markCommands(): array
    {
        if ($this->foreign) return [];
        return $this->apart() ? [['STRLEN', $this->key], ['HGET', $this->meta, 'mark']] : [['GETRANGE', $this->key, $this->markAt, $this->markAt + $this->beyond()]];
    }

    /** The mark from the last replies. */
    private function seen(array $replies): int
    {
        if (!$this->apart()) return Names::mark((string) end($replies));
        return $replies[\count($replies) - 2] === $this->length() ? (int) hexdec((string) end($replies)) : 0;
    }

    private function presentMark(): int { return $this->seen($this->query($this->markCommands())); }

    public function lost(): \BloomFilterException
    {
        return Fault::fail(\BloomFilterException::LOST, '%s is lost (deleted, expired, evicted or overwritten): create it again', $this->label);
    }

    public function unmarked(int $bytes): \BloomFilterException
    {
        return Fault::fail(\BloomFilterException::FORMAT, '%s holds %d bytes, but not the mark of its :meta: delete both keys to start again', $this->label, $bytes);
    }

    /** Is what was read one filter? */
    public function complete(Meta $meta, int $bytes, int $end): bool
    {
        $at = new self($this->client, $this->key);
        $at->take($meta->d, $meta->parts);
        if ($bytes === $at->length() && !$at->apart()) return $end === $meta->mark;
        return !$meta->parts && $at->presentMark() === $meta->mark;
    }

    public function adoptState(Meta $meta): void
    {
        $this->take($meta->d, $meta->parts);
        [$this->mark, $this->id, $this->filterId] = [$meta->mark, $meta->id, $meta->filterId];
    }

    /** A filter that was cleared or has grown has a new mark, and is the same filter. */
    public function isCurrent(): bool
    {
        try {
            [$meta, $bytes, $end] = $this->look();
        } catch (\BloomFilterException $e) {
            return $e->getCode() === \BloomFilterException::FORMAT ? false : throw $e;
        }
        if ($this->foreign) return !$meta && $bytes > 0;
        return $meta && $meta->id === $this->id && $this->complete($meta, $bytes, $end);
    }

    /** Compares the mark that was found.  True: the bits were replaced or have grown, and what was read does not count. */
    public function replaced(int $seen): bool
    {
        $all = $this->whole ?? $this;
        if ($this->foreign) return false;
        if ($seen === $this->mark) return $this->reported = $all->reported = false;
        for ($i = 0, $before = null; $i < self::TRIES; $i++, $before = [$bytes, $end, $meta?->mark]) {
            [$meta, $bytes, $end] = $this->look();
            if ($meta) $this->checkSame($meta);
            if ($meta && $this->complete($meta, $bytes, $end)) return $this->takeGeneration($meta);
            if (!$meta || $bytes === 0 || $before === [$bytes, $end, $meta->mark]) break;
        }
        $this->reported = $all->reported = true;
        throw $this->lost();
    }

    private function checkSame(Meta $meta): void
    {
        [$d, $there] = [$this->d, $meta->d];
        $many = $d->kind !== Params::FIXED;
        if (!$there->differenceTo($d, Params::SAME_FILTER) && (!$many || ($there->n === $d->n && $there->p === $d->p))) return;
        throw $many || $there->kind !== Params::FIXED
            ? Fault::fail(\BloomFilterException::MISMATCH, '%s was re-created with other parameters: open it again', $this->label)
            : Fault::fail(\BloomFilterException::MISMATCH, '%s was re-created as %s m=%d k=%d%s, here it is %s m=%d k=%d', $this->label, $there->scheme->name, $there->m, $there->k,
                $there->shards !== $d->shards ? " shards=$there->shards" : '', $d->scheme->name, $d->m, $d->k);
    }

    /** One error says that it was re-created; of several shards, one of them. */
    private function takeGeneration(Meta $meta): bool
    {
        $all = $this->whole ?? $this;
        $other = $this->whole && $meta->filterId !== $all->id;
        $reported = $other ? $all->reported : $this->reported || ($this->whole && $this->filterId !== $all->id);
        $again = ($other || $meta->id !== $this->id) && !$reported;
        if ($other) $all->id = $meta->filterId;
        $this->adoptState($meta);
        $this->reported = $all->reported = false;
        if (!$again) return true;
        [$gone, $all->added] = [$all->added, 0];
        throw Fault::fail(\BloomFilterException::LOST, '%s was re-created: keys added before are gone (%d by this object)', $all->label, $gone);
    }

    // ---- tests ----

    public function testMany(array $keys): array { return array_map(fn(int $least) => $least > 0, $this->countMany($keys)); }
    public function countMany(array $keys): array { return $this->until(fn() => $this->least($keys)); }

    private function until(\Closure $attempt): array
    {
        for ($i = 0; $i < self::TRIES; $i++) if (($answer = $attempt()) !== null) return $answer;
        throw Fault::fail(\BloomFilterException::IO, '%s is re-created too often: no reply', $this->label);
    }

    /** The replies to commands that read; null: another mark was there, which is known now. */
    private function attempt(array $commands): ?array
    {
        $replies = $this->query([...$commands, ...$this->markCommands()]);
        return $this->foreign || !$this->replaced($this->seen($replies)) ? $replies : null;
    }

    /** The least cell of each key; null as of attempt(). */
    public function least(array $keys): ?array
    {
        if (!$keys) return [];
        $string = ($this->foreign ? $this->bits + 7 >> 3 : $this->length()) - 1;
        if (\count($keys) >= 16 && $string < self::STEP && $string < 70 * \count($keys) * \count($keys[0])) {
            $replies = $this->attempt([['GETRANGE', $this->key, 0, $string]]);
            return $replies ? array_map(fn(array $positions) => $this->leastIn($positions, $replies[0], 0), $keys) : null;
        }
        foreach ($keys as $i => $positions)         // Lua passes some 8000 arguments
            foreach (array_chunk($positions, 1000) as $some) [$commands[], $of[]] = [$this->test($some), [$i, $some]];
        try {
            $replies = $this->attempt($commands);
        } catch (\BloomFilterException $e) {
            if (!$this->hasReadOnly || !preg_match('/nknown (Redis )?command/', $e->getMessage())) throw $e;
            $this->hasReadOnly = false;             // Redis before 6.2
            return $this->least($keys);
        }
        foreach ($replies ? $of : [] as $j => [$i, $positions]) {
            $least = is_array($replies[$j]) ? min($replies[$j]) : $this->leastIn($positions, $replies[$j], $positions[0] >> 9 << 9);
            if ($least < ($answers[$i] ?? 16)) $answers[$i] = $least;
        }
        return $answers ?? null;
    }

    /** The command that reads cells: their line of 512 if all are in one, which costs half. */
    private function test(array $positions): array
    {
        [$first, $bits] = [$positions[0] >> 9, $this->d->cellBits()];
        foreach ($positions as $at) if ($at >> 9 !== $first) $first = null;
        if ($first !== null) return ['GETRANGE', $this->key, $first * 64 * $bits, ($first + 1) * 64 * $bits - 1];
        $command = [$this->hasReadOnly ? 'BITFIELD_RO' : 'BITFIELD', $this->key];
        foreach ($positions as $at) array_push($command, 'GET', "u$bits", $at * $bits);
        return $command;
    }

    /** $from: the first cell of the text. */
    private function leastIn(array $positions, ?string $text, int $from): int
    {
        [$least, $bits] = [15, $this->d->cellBits()];
        foreach ($positions as $at) {
            $bit = ($at - $from) * $bits;
            $byte = $text[$bit >> 3] ?? "\0";
            $value = ord($byte) >> 8 - $bits - ($bit & 7) & (1 << $bits) - 1;
            if ($value < $least) $least = $value;
        }
        return $least;
    }

    // ---- changes ----

    public function addMany(array $keys): array
    {
        $script = $this->foreign ? 'add_foreign' : 'add';
        $present = $this->change($keys, 1000, $script, 'added');
        $all = $this->whole ?? $this;
        $all->added += \count($present) - array_sum($present);
        return $present;
    }

    public function removeMany(array $keys): array
    {
        $most = intdiv(1500, $this->d->k);
        return $this->change($keys, $most > 50 ? 50 : ($most ?: 1), 'count_down', 'removed');
    }

    /** What scripts look at first: where the mark is, and the known one. */
    private function known(): array { return [$this->markAt, sprintf('%08x', $this->mark)]; }

    /** k, positions NUL-terminated and three NULs more, by how much each counter rises, the number of positions. */
    private function places(array $keys, string $by = ''): array
    {
        $k = \count($keys[0]);
        $text = '';
        foreach ($keys as $positions) {
            if ($this->d->counting && $by === '') {
                $distinct = array_unique($positions);
                sort($distinct);
                $all = ($all ?? '') . str_repeat("\1", \count($distinct)) . str_repeat("\0", $k - \count($distinct));
                $positions = array_pad($distinct, $k, $distinct[0]);
            }
            foreach ($positions as $at) $text .= $this->d->counting ? "#$at\0" : "$at\0";
        }
        return [$k, "$text\0\0\0", $by ?: $all ?? '', $k * \count($keys)];
    }

    /** @return list<bool> by scripts of at most so many keys */
    private function change(array $keys, int $most, string $script, string $done, string $by = ''): array
    {
        $answers = [];
        foreach (array_chunk($keys, $most) as $some) {
            // in a cluster that moves a slot several keys may have to wait
            $names = $this->foreign || $this->apart() ? [$this->key, $this->meta] : [$this->key];
            $had = $this->until(function () use ($some, $script, $done, $by, $names) {
                $known = $this->foreign ? ['', $this->d->m] : $this->known();
                $had = $this->script($script, $names, [...$known, ...$this->places($some, $by)], $done);
                $mark = array_pop($had);
                if ($had !== [-1]) return $had;
                if ($this->foreign) throw $this->lost();
                $this->replaced($mark);
                return null;
            });
            foreach ($had as $one) $answers[] = $one === 1;
            if ($this->waitReplicas) $this->client->wait($this->waitReplicas, $done, $this->label);
            $this->reported = false;
        }
        return $answers;
    }

    // ---- whole bitmaps ----

    public function read(int $from, int $bytes): string
    {
        for ($text = '', $end = $from + $bytes, $at = $from; $at < $end; $at += self::STEP) {
            $n = min(self::STEP, $end - $at);
            $text .= str_pad((string) $this->until(fn() => $this->attempt([['GETRANGE', $this->key, $at, $at + $n - 1]]))[0], $n, "\0");
        }
        $m = $this->bits;
        if ($m % 8 && $end > $m >> 3) $text[($m >> 3) - $from] = chr(ord($text[($m >> 3) - $from]) & ~(0xFF >> $m % 8));
        return $end > $m + 7 >> 3 ? substr($text, 0, ($m + 7 >> 3) - $from) . str_repeat("\0", $end - ($m + 7 >> 3)) : $text;
    }

    /** Counted by Redis, 16 MiB in a command. */
    public function ones(int $from = 0, ?int $bytes = null): int
    {
        $end = $from + ($bytes ?? $this->bits + 7 >> 3);
        for ($at = $from; $at < $end; $at += 16 << 20) $commands[] = ['BITCOUNT', $this->key, $at, min($at + (16 << 20), $end) - 1];
        $counts = $this->until(fn() => $this->attempt($commands));
        $counts = array_slice($counts, 0, \count($commands));
        return array_sum($counts);
    }

    /** Makes zeros and a mark under a temporary name, and gives them to $then, which has the new mark and names the key. */
    private function make(\Closure $then): int
    {
        $temp = Names::temporary($this->key);
        $mark = Numbers::random();
        $last = $this->apart() ? ['SETRANGE', $temp, $this->markAt - 1, "\0"] : ['SETRANGE', $temp, $this->markAt, pack('N', $mark)];
        try {
            $this->query([$last, $last, ['EXPIRE', $temp, 600]], '');        // the second is refused if the first took more than maxmemory
            $done = $then($temp, $mark);
            if ($done < 0) throw Fault::fail(\BloomFilterException::IO, '%s: its temporary key was evicted or deleted: nothing was changed', $this->label);
        } catch (\Throwable $e) {
            try {
                $this->query([['DEL', $temp]], '');
            } catch (\BloomFilterException) {
            }
            throw $e;
        }
        return $done;
    }

    /** Creates it, where nothing is or what is left of a filter whose mark was $seen. */
    public function create(int $seen): bool
    {
        return (bool) $this->make(function (string $temp, int $mark) use ($seen) {
            $done = $this->script('create', [$this->key, $this->meta, $temp], [$seen ? sprintf('%08x', $seen) : '', $this->length(), ...Meta::fields($this, $mark)]);
            if ($done === 1) [$this->mark, $this->id, $this->filterId] = [$mark, $mark, $this->whole->id ?? 0];
            return $done;
        });
    }

    public function replace(string $bits): void { $this->exchange($bits, 'REPLACE'); }

    /** $how: OR, AND, or REPLACE. */
    public function exchange(string $bits, string $how): void
    {
        $this->mustBeOwn(['OR' => 'be united', 'AND' => 'be intersected'][$how] ?? 'be rebuilt');
        if ($how === 'OR' && $this->d->counting && !$this->parts) {
            $this->countUp($bits);
            return;
        }
        $this->make(function (string $temp, int $mark) use ($bits, $how) {
            for ($at = $this->bits + 7 >> 3; $at > 0; $at -= $n) {
                $n = $at % self::STEP ?: self::STEP;
                if (trim($piece = substr($bits, $at - $n, $n), "\0") !== '')
                    $this->query([['SETRANGE', $temp, $at - $n, $piece], ['EXPIRE', $temp, 600]], '');
            }
            $done = $this->ifLive('exchange', [$this->key, $this->meta, $temp], [sprintf('%08x', $mark), pack('N', $mark), $how, ...$how === 'OR' ? [] : Meta::keys($this->parts)]);
            if ($done > 0 && $how !== 'OR') $this->mark = $mark;
            return $done;
        });
    }

    /** A script that wants the known mark; 0 never. */
    private function ifLive(string $script, array $names, array $arguments): int
    {
        return $this->until(function () use ($script, $names, $arguments) {
            if ($this->replaced($this->presentMark()) && $script === 'exchange' && $this->parts)
                throw Fault::fail(\BloomFilterException::IO, '%s: others changed its parts during the call: nothing was changed', $this->label);
            $done = $this->script($script, $names, [...$this->known(), $this->beyond(), ...$arguments]);
            return $done ? [$done] : null;
        })[0];
    }

    /** Counters add up, 250 in a script. */
    private function countUp(string $counters): void
    {
        for ($places = [], $by = '', $i = 0, $n = $this->bits >> 2; $i <= $n; $i++) {
            $value = $i < $n ? ord($counters[$i >> 1]) >> ($i & 1 ? 0 : 4) & 15 : 0;
            if ($value) [$places[], $by] = [$i, $by . chr($value)];
            if (\count($places) < ($i < $n ? 250 : 1)) continue;
            $this->change([$places], 1, 'add', 'added', $by);
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
        $this->ifLive('care', [$this->key, $this->meta], [$command, ...$argument]);
    }

    /** The same for K:meta alone, of a filter with shards. */
    public function careOfMeta(string $command, string ...$argument): bool
    {
        return $this->script('care', [$this->meta], ['', sprintf('%08x', $this->id), '', $command, ...$argument]) === 1;
    }
}
