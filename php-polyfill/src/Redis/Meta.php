<?php
namespace Bloomfilter\Polyfill\Redis;

use Bloomfilter\Polyfill\{Fault, Params, Scheme, Sizing};

/** K:meta, the hash that says what the bits are: core/redis/meta.c.  Nothing read is used before it was checked. */
final class Meta
{
    public Params $d;
    /** @var list<Params> of a filter that grows, each with its number of keys */
    public array $parts = [];
    public int $mark = 0;
    /** The mark it was made with. */
    public int $id = 0;
    public bool $adopted = false;
    public bool $making = false;
    /** Of a shard: the id of its filter. */
    public int $filterId = 0;

    /** @return list<string> names and values */
    public static function fields(Key $key, int $mark): array
    {
        [$d, $hex] = [$key->d, sprintf('%08x', $mark)];
        $grows = $d->kind === Params::GROW;
        $fields = $key->whole ? ['owner', $key->whole->key, 'filter', self::filter($key->whole)] : [];
        array_push($fields, 'format', $grows ? 2 : 1, 'scheme', $d->scheme->name, 'm', $d->m, 'n', $d->n, 'k', $d->k, 'p', Fault::number($d->p, 17),
            'secret', sprintf('%016x', $d->secretCheck), 'mark', $hex, 'born', $hex, 'by', 'bloomfilter');
        if ($d->counting) array_push($fields, 'cell_bits', 4);
        if ($d->shards > 1) array_push($fields, 'shards', $d->shards);
        if ($grows) array_push($fields, 'kind', 'grow', 'grow', Fault::number($d->grow, 17), 'parts', count($key->parts));
        foreach ($key->parts as $i => $part) array_push($fields, "part$i", self::size($part));
        return [...$fields, ...self::keys($key->parts)];
    }

    /** m, n and p of a part. */
    public static function size(Params $part): string { return "$part->m $part->n " . Fault::number($part->p, 17); }

    private static function filter(Key $whole): string { return sprintf('%08x ', $whole->id) . $whole->meta; }

    /** @param list<Params> $parts */
    public static function keys(array $parts): array
    {
        return array_merge(...array_map(fn(int $i, Params $part) => ["keys$i", $part->live], array_keys($parts), $parts));
    }

    private static function bad(Key $key, string $field): \BloomFilterException
    {
        return Fault::fail(\BloomFilterException::FORMAT, '%s: field %s of its companion hash (:meta) is missing or invalid', $key->label, $field);
    }

    private static function whole(?string $text, int $least, int $most): ?int
    {
        return $text !== null && preg_match('/^[0-9]{1,19}$/', $text) && is_int($v = filter_var(ltrim($text, '0') ?: '0', FILTER_VALIDATE_INT))
            && $v >= $least && $v <= $most ? $v : null;
    }

    /** NAN: it is none. */
    private static function real(?string $text): float { return is_numeric($text) && !preg_match('/\s\z/', $text) ? (float) $text : NAN; }

    private static function hex(?string $text, int $digits): ?int
    {
        if ($text === null || !preg_match("/^[0-9a-f]{1,$digits}$/", $text)) return null;
        return unpack('J', hex2bin(str_pad($text, 16, '0', STR_PAD_LEFT)))[1];
    }

    private static function other(Key $key, string $name): \BloomFilterException
    {
        $shown = preg_replace('/[\x00-\x1f\x7f]/', '?', substr($name, 0, 32)) . (strlen($name) > 32 ? '..' : '');
        return Fault::fail(\BloomFilterException::FORMAT, '%s belongs to the filter %s: open that one, or use another key', $key->label, $shown);
    }

    /** HGETALL in a script is a list; null: there is none. */
    public static function read(Key $key, array $list): ?self
    {
        if (!$list) return null;
        for ($hash = [], $i = 0; $i + 1 < count($list); $i += 2) $hash[$list[$i]] = $list[$i + 1];
        $meta = new self;
        $meta->adopted = isset($hash['adopted']);
        $meta->making = isset($hash['making']);
        if ($key->whole) $meta->filterId = self::owner($key, $hash);
        if (!isset($hash['format'])) throw self::bad($key, 'format');
        if ($hash['format'] !== '1' && $hash['format'] !== '2')
            throw Fault::fail(\BloomFilterException::FORMAT, '%s has format %.8s, this build reads up to 2', $key->label, $hash['format']);
        $meta->d = self::params($key, $hash);
        $meta->id = self::hex($hash['born'] ?? null, 8) ?? 0;
        $meta->mark = self::hex($hash['mark'] ?? null, 8) ?: throw self::bad($key, 'mark');
        if ($hash['format'] === '2' && !$meta->id) throw self::bad($key, 'born');
        if ($hash['format'] === '2') $meta->parts = self::growing($key, $hash, $meta->d);
        return $meta;
    }

    /** The id of the filter whose shard it is. */
    private static function owner(Key $key, array $hash): int
    {
        if (!isset($hash['owner'])) throw self::bad($key, 'owner');
        if ($hash['owner'] !== $key->whole->key) throw self::other($key, $hash['owner']);
        if (!preg_match('/^([0-9a-f]{8}) ./', $hash['filter'] ?? '', $match)) throw self::bad($key, 'filter');
        if (substr($hash['filter'], 9) !== $key->whole->meta) throw self::other($key, substr($hash['filter'], 9));
        return hexdec($match[1]);
    }

    private static function params(Key $key, array $hash): Params
    {
        try {
            $scheme = Scheme::find($hash['scheme'] ?? throw self::bad($key, 'scheme'));
        } catch (\ValueError) {
            throw Fault::fail(\BloomFilterException::FORMAT, '%s has scheme %.24s, which this build does not know', $key->label, $hash['scheme']);
        }
        if (($hash['cell_bits'] ?? '4') !== '4')
            throw Fault::fail(\BloomFilterException::FORMAT, '%s has %.8s bits per position, this build knows 1 and 4', $key->label, $hash['cell_bits']);
        $shards = isset($hash['shards']) ? self::whole($hash['shards'], 1, 4096) : 1;
        $m = self::whole($hash['m'] ?? null, 1, Sizing::MOST_M);
        $n = self::whole($hash['n'] ?? null, 1, PHP_INT_MAX);
        $k = self::whole($hash['k'] ?? null, 1, $scheme->mostK);
        $counting = isset($hash['cell_bits']);
        $most = $scheme->native || $counting ? Key::MOST_BITS : 1 << 32;
        if (!$m || !$shards || $m % $scheme->step($shards) || ($shards > 1 && !$scheme->native)
            || (intdiv($m * ($counting ? 4 : 1), $shards) > $most && $hash['format'] === '1')) throw self::bad($key, 'm or shards');
        if (!$n) throw self::bad($key, 'n');
        if (!$k) throw self::bad($key, 'k');
        try {
            $scheme->checkLimits($m, $k);
        } catch (\ValueError) {
            throw self::bad($key, 'm or k');
        }
        $p = self::real($hash['p'] ?? null);
        if (!($p >= 0 && $p <= 1)) throw self::bad($key, 'p');
        $d = new Params($scheme, $m, $n, $k, $p, $shards, $counting);
        $d->secretCheck = self::hex($hash['secret'] ?? null, 16) ?? throw self::bad($key, 'secret');
        return $d;
    }

    /** @return list<Params> */
    private static function growing(Key $key, array $hash, Params $d): array
    {
        if (($hash['kind'] ?? '') === 'window') throw Fault::unsupported('%s forgets: window needs the extension', $key->label);
        if (($hash['kind'] ?? '') !== 'grow') throw self::bad($key, 'kind');
        $d->kind = Params::GROW;
        $d->grow = self::real($hash['grow'] ?? null);
        $d->live = self::whole($hash['parts'] ?? null, 1, 256) ?? throw self::bad($key, 'parts');
        if (!$d->scheme->native) throw self::bad($key, 'scheme');
        if (!($d->grow >= 1 && $d->grow <= 1e300)) throw self::bad($key, 'grow');
        if (!Sizing::possible($d)) throw self::bad($key, 'm for its n, p and k');
        for ($parts = [], $i = 0; $i < $d->live; $i++) {
            $part = $parts[] = $d->part($i);
            [$m, $n, $p] = [...explode(' ', $hash["part$i"] ?? '', 3), '', ''];
            [$m, $n, $p] = [self::whole($m, 1, Sizing::MOST_M), self::whole($n, 1, PHP_INT_MAX), self::real($p)];
            if (!$m || !$n || is_nan($p)) throw self::bad($key, "part$i");
            [$part->m, $part->n, $part->p] = [$m, $n, $p];
            $part->live = self::whole($hash["keys$i"] ?? '0', 0, PHP_INT_MAX) ?? throw self::bad($key, "keys$i");
            if (!Sizing::partPossible($d, $part))
                throw Fault::fail(\BloomFilterException::FORMAT, '%s: its part %d has n=%d, which does not fit m=%d, p=%g, k=%d', $key->label, $i, $n, $m, $p, $d->k);
        }
        return array_sum(array_map(fn(Params $part) => $part->bits(), $parts)) <= Key::MOST_BITS ? $parts : throw self::bad($key, 'm or parts');
    }
}
