<?php
namespace Bloomfilter\Polyfill;

/** The bytes of a filter, docs/format.md: header pages, compact headers, and what follows.  Nothing read is used before it was checked. */
final class Image
{
    private const MAGIC = "\x8BBLM\r\n\x1a\n";
    private const PAGE = 4096;
    private const SMALL = 4096;
    private const KEYED = 1;
    private const SHARDED = 16;
    private const GROW = 0x100;
    private const WINDOW = 0x200;
    private const PART = 0x400;
    private const CHAIN = self::GROW | self::WINDOW | self::PART;
    /** Fields that a compact header has where a flag asks for them: flags, offset in the page, bytes there. */
    private const EXTRA = [[self::KEYED, 72, 8], [self::SHARDED, 192, 4], [self::GROW, 144, 8], [self::WINDOW, 152, 8],
        [self::WINDOW | self::PART, 160, 4], [self::CHAIN, 2080, 8]];

    // ---- writing ----

    public static function bytes(Filter $f): string
    {
        $f->follow();
        $compact = array_sum(array_map(fn(Part $part) => $part->d->bytes(), $f->parts)) < self::SMALL;
        return implode('', iterator_to_array(self::pieces($f, $compact), false));
    }

    /** @return \Iterator<string> headers and bits, part by part */
    public static function pieces(Filter $f, bool $compact): \Iterator
    {
        $whole = clone $f->d;
        $whole->live = count($f->parts);
        $header = $compact ? self::compact(...) : self::page(...);
        if ($whole->kind === Params::GROW) yield $header($whole, '');
        foreach ($f->parts as $part) {
            $bits = $part->bits();
            yield $header($part->d, $bits);
            yield $bits;
        }
    }

    private static function flags(Params $d): int
    {
        return ($d->secretCheck ? self::KEYED : 0) | ($d->shards > 1 ? self::SHARDED : 0)
            | [Params::FIXED => 0, Params::GROW => self::GROW, Params::PART => self::PART][$d->kind];
    }

    private static function live(int $value): int
    {
        $v = $value & 0xFFFFFFFFFFFF;
        return (~($v ^ $v >> 16 ^ $v >> 32) & 0xFFFF) << 48 | $v;
    }

    private static function sum(string $bytes): string { return strrev(hash('xxh3', $bytes, true)); }

    /** Bytes 24 to 2047. */
    private static function fields(Params $d): string
    {
        $chain = $d->kind !== Params::FIXED;
        return str_pad(pack('VVPPVVePPa64eeVx28V', $d->scheme->id, self::flags($d), $d->m, $d->n, $d->k, $d->cellBits(), $d->p, $d->bytes(), $d->secretCheck,
            $d->scheme->name, $d->grow, 0.0, $chain ? $d->index : 0, $d->shards > 1 ? $d->shards : 0), 2024, "\0");
    }

    private static function page(Params $d, string $bits): string
    {
        $fields = self::fields($d);
        $clean = pack('P', 0xFFFFFFFF << 32);
        $live = $d->kind === Params::FIXED ? 0 : self::live($d->live);
        $ones = $bits === '' ? 0 : Bits::ones($bits, $d->counting);
        $page = self::MAGIC . pack('VV', 1, self::PAGE) . self::sum($fields) . $fields . $clean . $clean . pack('P', $ones) . self::sum($bits);
        $rest = str_repeat("\0", 2000);
        return $page . pack('P', $live) . $rest . self::sum($page . "\0\0\0\0\0\0\0\0" . $rest);
    }

    private static function compact(Params $d, string $bits): string
    {
        $page = str_repeat("\0", 24) . str_pad(self::fields($d), 2056, "\0") . pack('P', self::live($d->live));
        $head = substr($page, 24, 40);
        foreach (self::EXTRA as [$flags, $at, $bytes])
            if (self::flags($d) & $flags) $head .= str_pad(substr($page, $at, $bytes), 8, "\0");
        if ($d->scheme->name !== $d->scheme->row) $head .= str_pad($d->scheme->name, strlen($d->scheme->name) + 7 & ~7, "\0");
        return self::MAGIC . pack('VV', 2, 24 + strlen($head)) . self::sum($head . $bits) . $head;
    }

    // ---- reading ----

    /** A filter in memory. */
    public static function fromBytes(string $bytes, Spec $expect): Filter
    {
        return self::read(fn(int $from, int $len) => substr($bytes, $from, $len), strlen($bytes), 'the data', $expect, function (Params $d, int $at) use ($bytes) {
            $memory = new Memory($d);
            $memory->replace(substr($bytes, $at, $d->bytes()));
            return $memory;
        });
    }

    /**
     * @param \Closure(int, int): string $read bytes from an offset on
     * @param \Closure(Params, int): Store $store where bits are that begin at an offset
     * @param bool $bound to a file: each header is a page, and the bits of a filter of fixed size are verified before it is compared with $expect
     */
    public static function read(\Closure $read, int $len, string $where, Spec $expect, \Closure $store, bool $bound = false): Filter
    {
        $expect->checkNumbers();
        [$page, $head] = self::header($read, 0, $len, $where);
        $d = self::whole($page, $head, $len, $where);
        $last = $bound && $d->kind === Params::FIXED;
        if (!$last) self::match($d, $expect, $where);
        $f = Filter::shell($d, $expect->secret);
        $at = $d->kind === Params::GROW ? $head : 0;
        for ($i = 0, $n = $d->kind === Params::GROW ? $d->live : 1; $i < $n; $i++) {
            $part = $d;
            if ($d->kind === Params::GROW) [$part, $page, $own] = self::part($d, $i, $read, $at, $len, $head === self::PAGE, $where, $bound);
            $at += $own ?? $head;
            $bits = $store($part, $at);
            self::verify($page, $part, $bits, $where);
            $f->append(new Part($part, $bits, $expect->secret));
            $at += $part->bytes();
        }
        if ($d->kind === Params::GROW && $at < $len && !$d->dirty) throw Fault::fail(\BloomFilterException::FORMAT,
            '%.80s is too long: %d bytes, its parts need %d', $where, $len, $at);
        if ($last) self::match($d, $expect, $where);
        return $f;
    }

    private static function match(Params $d, Spec $expect, string $where): void
    {
        $d->checkMatch($expect, $where);
        Secret::match($d, $expect->secret, $where);
    }

    /** @return array{Params, string, int} the next part of a filter, its page, the length of its header */
    public static function part(Params $of, int $i, \Closure $read, int $at, int $len, bool $paged, string $where, bool $bound = false): array
    {
        if ($len - $at < ($paged ? self::PAGE : 64))
            throw Fault::fail(\BloomFilterException::FORMAT, '%.80s is truncated: %d bytes, its part %u is missing', $where, $len, $i);
        [$page, $head] = $bound ? [$read($at, self::PAGE), self::PAGE] : self::header($read, $at, $len, $where);
        self::checkFrame($page, $len - $at - $head + self::PAGE, $where);
        $d = self::values($page, $where);
        if ($d->kind !== Params::PART || $d->index !== $i || $d->differenceTo($of, Params::SAME_HASH))
            throw Fault::damaged($where, 'a part does not belong to it');
        if (!Sizing::partPossible($of, $d))
            throw Fault::fail(\BloomFilterException::FORMAT, '%.80s is damaged: its part %u has n=%d, which does not fit m=%d, p=%g, k=%u', $where, $i, $d->n, $d->m, $d->p, $d->k);
        if ($d->live < 0) throw Fault::damaged($where, "a part's number of keys is below 0");
        if ($len - $at < $head + $d->bytes())
            throw Fault::fail(\BloomFilterException::FORMAT, '%.80s is truncated: its part %u has %d bytes and needs %d', $where, $i, $len - $at, $head + $d->bytes());
        self::checkLive($page, $where);
        if ($paged !== ($head === self::PAGE)) throw Fault::damaged($where, 'some of its parts have a header page and some have not');
        return [$d, $page, $head];
    }

    /**
     * Given the first bytes of a stream: how many bytes to read next.  0: fromBytes() can decide.
     * As bf_image_wants() of the core: bytes after the filter are not read.
     */
    public static function wants(string $bytes): int
    {
        [$len, $at, $whole, $parts] = [strlen($bytes), 0, null, 0];
        $read = fn(int $from, int $n) => substr($bytes, $from, $n);
        for ($i = 0; $i <= $parts; $i++) {
            $left = $len - $at;
            $span = self::span($read($at, self::PAGE), $left);
            $compact = self::isCompact(substr($bytes, $at, 12));
            if ($left < ($compact ? $span : self::PAGE)) return $span ? $span - $left : 0;
            try {
                if ($whole) [$d, $page] = self::part($whole, $i - 1, $read, $at, $at + $span, !$compact, '');
                else {
                    [$page, $head] = self::header($read, 0, $span, '');
                    $d = $whole = self::whole($page, $head, $span, '');
                    $parts = $whole->kind === Params::GROW ? $whole->live : 0;
                }
            } catch (\Exception) {
                return 0;
            }
            if ($left < $span) return $span - $left;
            $at += $span;
        }
        return 0;
    }

    public static function isCompact(string $page): bool { return strlen($page) >= 12 && str_starts_with($page, self::MAGIC) && self::u32($page, 8) === 2; }

    /** The length of a header and of its bits; how many bytes are needed to know it; 0: no header. */
    private static function span(string $raw, int $len): int
    {
        if (strncmp($raw, self::MAGIC, min($len, 8)) !== 0) return 0;
        if ($len < 64) return 64;
        if (self::u32($raw, 8) !== 2) {
            $none = self::u32($raw, 28) & (self::GROW | self::WINDOW);
            return self::PAGE + ($len < self::PAGE || $none ? 0 : self::u64($raw, 64) & PHP_INT_MAX >> 1);
        }
        $head = self::u32($raw, 12);
        $bits = self::bitsAfter($raw);
        return $head >= 64 && $head <= 160 && $bits !== null ? $head + $bits : 0;
    }

    /** How many bytes of bits follow a compact header; null: m is too large for it. */
    private static function bitsAfter(string $raw): ?int
    {
        if (self::u32($raw, 28) & (self::GROW | self::WINDOW)) return 0;
        [$m, $cell] = [self::u64($raw, 32), self::u32($raw, 52)];
        if ($m > self::SMALL * 8 || $m < 0 || $cell > 4) return null;
        $bits = intdiv($m * $cell + 63, 64) * 8;
        return $bits < self::SMALL ? $bits : null;
    }

    /** @return array{string, int} the page, from a compact header where there is one, and the header's length */
    private static function header(\Closure $read, int $at, int $len, string $where): array
    {
        $page = $read($at, min($len - $at, self::PAGE));
        if (!self::isCompact($page)) return [$page, self::PAGE];
        $len -= $at;
        $head = $len < 64 ? 0 : self::u32($page, 12);
        if ($len < 64 || $len < $head)
            throw Fault::fail(\BloomFilterException::FORMAT, '%.80s is truncated: %d bytes, its header has %d', $where, $len, $head ?: 64);
        if ($head < 64 || $head > 160)
            throw Fault::fail(\BloomFilterException::FORMAT, '%.80s is damaged: a header of format version 2 has 64 to 160 bytes, not %d', $where, $head);
        $bits = self::bitsAfter($page) ?? throw Fault::damaged($where, 'm is too large for a header without a page');
        if ($len - $head < $bits)
            throw Fault::fail(\BloomFilterException::FORMAT, '%.80s is truncated: %d bytes, m=%d needs %d', $where, $len, self::u64($page, 32), $head + $bits);
        $raw = $read($at, $head + $bits);
        if (substr($raw, 16, 8) !== self::sum(substr($raw, 24))) throw Fault::damaged($where, 'its checksum does not match');
        return [self::spread($raw, $head, $where), $head];
    }

    /** A page from a compact header's fields, sealed. */
    private static function spread(string $raw, int $head, string $where): string
    {
        $flags = self::u32($raw, 28);
        $at = 64;
        $page = str_pad(str_repeat("\0", 24) . substr($raw, 24, 40), self::PAGE, "\0");
        $extra = array_filter(self::EXTRA, fn(array $field) => $flags & $field[0]);
        $names = $head - 64 - 8 * count($extra);
        if ($names < 0 || $names > 64 || $head % 8) throw Fault::damaged($where, 'bad header size');
        foreach ($extra as [, $to, $bytes]) {
            if (trim(substr($raw, $at + $bytes, 8 - $bytes), "\0") !== '') throw Fault::damaged($where, 'a reserved byte is set');
            $page = substr_replace($page, substr($raw, $at, $bytes), $to, $bytes);
            $at += 8;
        }
        $name = $names ? substr($raw, $at, $names) : (string) (Scheme::byId($id = self::u32($raw, 24)) ?? array_search($id, Scheme::OTHERS, true));
        $page = substr_replace($page, $name, 80, strlen($name));
        [$m, $cell] = [self::u64($raw, 32), self::u32($raw, 52)];
        $sound = $m > 0 && $m <= Sizing::MOST_M && $cell <= 4;        // else values() refuses them
        $page = substr_replace($page, pack('P', $sound ? intdiv($m * $cell + 63, 64) * 8 : 0), 64, 8);
        $clean = pack('P', 0xFFFFFFFF << 32);
        $page = self::MAGIC . pack('VV', 1, self::PAGE) . self::sum(substr($page, 24, 2024)) . substr($page, 24, 2024) . $clean . $clean
            . pack('P', 0) . self::sum(substr($raw, $head)) . substr($page, 2080, 2008);
        return $page . self::pageSum($page);
    }

    private static function pageSum(string $page): string
    {
        return self::sum(substr($page, 0, 2048) . substr($page, 2056, 8) . substr($page, 2056, 24) . "\0\0\0\0\0\0\0\0" . substr($page, 2088, 2000));
    }

    private static function u32(string $page, int $at): int { return unpack('V', $page, $at)[1]; }
    private static function u64(string $page, int $at): int { return unpack('P', $page, $at)[1]; }
    private static function real(string $page, int $at): float { return unpack('e', $page, $at)[1]; }

    private static function checkFrame(string $page, int $len, string $where): void
    {
        $fail = fn(string $format, mixed ...$values) => Fault::fail(\BloomFilterException::FORMAT, $format, $where, ...$values);
        if ($len < 8) throw $fail('%.80s is not a filter file: it has only %d bytes, a header has 4096', $len);
        if (!str_starts_with($page, self::MAGIC)) throw $fail('%.80s is not a filter file (bad magic bytes, %d bytes)', $len);
        $version = $len < 12 ? 1 : self::u32($page, 8);
        if ($len < self::PAGE && $version <= 1) throw $fail('%.80s is truncated: %d bytes, a header has 4096', $len);
        if ($version > 2) throw $fail('%.80s has format version %d, this build reads up to 2', $version);
        if ($version !== 1 || self::u32($page, 12) !== self::PAGE) throw Fault::damaged($where, 'bad version or header size');
        if (substr($page, 16, 8) !== self::sum(substr($page, 24, 2024))) throw Fault::damaged($where, "the header's checksum does not match");
    }

    private static function whole(string $page, int $head, int $len, string $where): Params
    {
        self::checkFrame($page, $len - $head + self::PAGE, $where);
        $d = self::values($page, $where);
        $d->dirty = substr($page, 2048, 8) !== substr($page, 2056, 8);
        if ($d->kind === Params::PART) throw Fault::fail(\BloomFilterException::FORMAT, '%.80s is one part of a filter, not all of it', $where);
        if ($d->kind === Params::GROW && !Sizing::possible($d))
            throw Fault::fail(\BloomFilterException::FORMAT, '%.80s is damaged: m=%d is not what n=%d, p=%g, k=%u need', $where, $d->m, $d->n, $d->p, $d->k);
        $want = $head + $d->bytes();
        $most = $d->dirty ? (($want + 65535) & ~65535) + $d->bytes() + 8 : $want;      // a shadow and its sum may follow the bits
        if ($d->kind === Params::FIXED && ($len < $want || $len > $most))
            throw Fault::fail(\BloomFilterException::FORMAT, '%.80s is %s: %d bytes, m=%d needs %d', $where, $len < $want ? 'truncated' : 'too long', $len, $d->m, $want);
        self::checkLive($page, $where);
        return $d;
    }

    private static function values(string $page, string $where): Params
    {
        $id = self::u32($page, 24);
        $name = rtrim(substr($page, 80, 64), "\0");
        if ((Scheme::OTHERS[$name] ?? null) === $id) throw Fault::unsupported('%.80s has scheme %.24s, which needs the extension', $where, $name);
        if (Scheme::byId($id) === null && !in_array($id, Scheme::OTHERS, true))
            throw Fault::fail(\BloomFilterException::FORMAT, '%.80s has scheme number %d, which this build does not know', $where, $id);
        try {
            $scheme = Scheme::find($name);
        } catch (\Exception|\ValueError) {
        }
        if (($scheme->id ?? 0) !== $id) throw Fault::damaged($where, 'scheme name and number disagree');
        $d = new Params($scheme, self::u64($page, 32), self::u64($page, 40), self::u32($page, 48), self::real($page, 56), 1, self::u32($page, 52) === 4);
        $d->secretCheck = self::u64($page, 72);
        if ($d->m < 1 || $d->m > Sizing::MOST_M || $d->m % $scheme->line) throw Fault::damaged($where, 'm is out of range');
        if ($d->n < 1) throw Fault::damaged($where, 'n is out of range');
        if ($d->k < 1 || $d->k > $scheme->mostK) throw Fault::damaged($where, 'k is out of range');
        try {
            $scheme->checkLimits($d->m, $d->k);
        } catch (\ValueError) {
            throw Fault::damaged($where, 'm or k is not what its scheme fixes');
        }
        if (!($d->p >= 0 && $d->p <= 1)) throw Fault::damaged($where, 'p is out of range');
        $flags = self::u32($page, 28);
        $chain = $flags & self::CHAIN;
        if ($flags & ~(self::KEYED | self::SHARDED | self::CHAIN) || $chain & $chain - 1 || ($chain && $flags & self::SHARDED)
            || self::u32($page, 52) !== $d->cellBits() || ($d->counting && $chain === self::WINDOW))
            throw Fault::fail(\BloomFilterException::FORMAT, '%.80s uses features (flags %d, %d bits per position) that this build does not know', $where, $flags, self::u32($page, 52));
        if ((bool) ($flags & self::KEYED) !== (bool) $d->secretCheck) throw Fault::damaged($where, 'secret check and flags disagree');
        if (self::u64($page, 64) !== $d->bytes()) throw Fault::damaged($where, 'its length field does not fit m');
        if ($chain) return self::chain($page, $d, $chain, $where);
        $shards = self::u32($page, 192);
        if (trim(substr($page, 144, 48) . substr($page, 196, 1852), "\0") !== '') throw Fault::damaged($where, 'a reserved byte is set');
        if ((bool) ($flags & self::SHARDED) !== $shards > 1 || $shards === 1
            || ($shards && ($shards > 4096 || !$scheme->native || $d->m % $scheme->step($shards)))) throw Fault::damaged($where, 'its shards do not fit m');
        $d->shards = $shards ?: 1;
        return $d;
    }

    private static function chain(string $page, Params $d, int $flag, string $where): Params
    {
        $d->kind = $flag === self::GROW ? Params::GROW : Params::PART;
        $d->grow = self::real($page, 144) + 0.0;                 // -0.0 becomes 0.0
        [$number, $live] = [self::u32($page, 160), self::u64($page, 2080)];
        $d->live = $live << 16 >> 16;
        if (!$d->scheme->native) throw Fault::damaged($where, 'its scheme has no parts');
        if (self::live($d->live) !== $live) throw Fault::damaged($where, 'the state of a part is invalid');
        $grows = $d->kind === Params::GROW;
        $forgets = $flag === self::WINDOW;
        $window = self::real($page, 152);
        $wrong = match (true) {
            $grows ? !($d->grow >= 1 && $d->grow <= 1e300) : $d->grow != 0 => 'grow is out of range',
            $grows && $window != 0 => 'window is out of range',
            $grows ? $number !== 0 : $number >= 256 || ($forgets && !$number) => 'parts is out of range',
            $grows && ($d->live < 1 || $d->live > 256) => 'its number of parts is out of range',
            $forgets ? !($window >= 1e-4 * $number && $window <= 1e300) : $window != 0 => 'window is out of range',
            trim(substr($page, 164, 1884), "\0") !== '' => 'a reserved byte is set',
            default => null,
        };
        if ($wrong) throw Fault::damaged($where, $wrong);
        if ($forgets) throw Fault::unsupported('%.80s forgets: window needs the extension', $where);
        $d->index = $number;
        return $d;
    }

    private static function checkLive(string $page, string $where): void
    {
        [$dirty, $clean, $live] = [self::u64($page, 2048), self::u64($page, 2056), self::u64($page, 2080)];
        $valid = fn(int $s) => ($s >> 32 & Numbers::LOW) === (~$s & Numbers::LOW);
        if (!$valid($dirty) || !$valid($clean) || ($clean & Numbers::LOW) > ($dirty & Numbers::LOW))
            throw Fault::damaged($where, 'a sequence number is invalid');
        if (!(self::u32($page, 28) & self::CHAIN) && $live && ($dirty === $clean || self::live($live << 16 >> 16) !== $live))
            throw Fault::damaged($where, 'its generation is invalid');
        if (trim(substr($page, 2088, 2000), "\0") !== '') throw Fault::damaged($where, 'a reserved byte is set');
        if (substr($page, 4088, 8) !== self::pageSum($page)) throw Fault::damaged($where, "the header page's checksum does not match");
    }

    private static function verify(string $page, Params $d, Store $bits, string $where): void
    {
        $tail = $d->bits() % 64;
        if ($tail && unpack('J', $bits->read($d->bytes() - 8, 8))[1] & PHP_INT_MAX >> $tail - 1) throw Fault::damaged($where, 'a bit past m is set');
        if (substr($page, 2048, 8) !== substr($page, 2056, 8)) return;
        $sum = hash_init('xxh3');
        for ($at = 0; $at < $d->bytes(); $at += 1 << 20) hash_update($sum, $bits->read($at, min(1 << 20, $d->bytes() - $at)));
        if (strrev(hash_final($sum, true)) !== substr($page, 2072, 8)) throw Fault::damaged($where, "the bits' checksum does not match");
    }

    /** The number of parts that a first page has now. */
    public static function partsIn(string $word): int { return unpack('P', $word)[1] << 16 >> 16; }
}
