<?php
namespace Bloomfilter\Polyfill;

/** Bare bits as other systems write them: "bits", "bits-lsb", and read only "cells", a byte per cell. */
final class Foreign
{
    private static function check(string $format, bool $write): void
    {
        if (in_array($format, ['guava', 'redisbloom'], true)) throw Fault::unsupported('format %s needs the extension', $format);
        if (!in_array($format, $write ? ['bits', 'bits-lsb'] : ['bits', 'bits-lsb', 'cells'], true))
            throw Fault::value('format must be one of guava, redisbloom, bits, bits-lsb%s, got %.40s', $write ? '' : ', cells', $format);
    }

    private static function noCounters(bool $counting): void
    {
        if ($counting) throw Fault::unsupported("other systems' formats hold bits, not counters: convert to a plain filter first");
    }

    /** The bits of each byte the other way round. */
    private static function reversed(string $bits): string
    {
        static $table = [];
        if (!$table) for ($i = 0; $i < 256; $i++) $table[chr($i)] = chr(bindec(strrev(sprintf('%08b', $i))));
        return strtr($bits, $table);
    }

    public static function export(Filter $f, string $format): string
    {
        self::check($format, true);
        if ($f->d->kind === Params::GROW) throw Fault::value('format %.20s is for filters of fixed size: a filter that grows or forgets has only its own format', $format);
        self::noCounters($f->d->counting);
        $bits = $f->parts[0]->store->read(0, intdiv($f->d->m + 7, 8));
        return $format === 'bits' ? $bits : self::reversed($bits);
    }

    public static function import(string $bytes, string $format, Spec $spec): Filter
    {
        self::check($format, false);
        self::noCounters($spec->counting && $format !== 'cells');
        if ($spec->scheme === null) throw Fault::value('raw bits do not contain their scheme: scheme must be given');
        $d = Sizing::fixed($spec);
        $d->secretCheck = Secret::check($d->scheme, $spec->secret);
        [$len, $needs] = [strlen($bytes), $format === 'cells' ? $d->m : intdiv($d->m + 7, 8)];
        if ($len > $needs || ($len < $needs && $format === 'cells'))
            throw Fault::fail(\BloomFilterException::FORMAT, 'wrong length: %d bytes, m=%d needs %d', $len, $d->m, $needs);
        if ($format === 'cells') $bytes = self::cells($bytes, $d->counting);
        $f = Filter::memory($d, $spec->secret);
        $f->parts[0]->store->replace($format === 'bits-lsb' ? self::reversed($bytes) : $bytes);
        $last = $f->parts[0]->store->read(intdiv($d->m + 7, 8) - 1, 1);
        if (!$d->counting && $d->m % 8 && ord($last) & 0xFF >> $d->m % 8)
            throw Fault::fail(\BloomFilterException::FORMAT, 'the data has a bit set past m=%d', $d->m);
        return $f;
    }

    /** Counts above 15 become 15. */
    private static function cells(string $cells, bool $counting): string
    {
        $bytes = '';
        $per = $counting ? 2 : 8;
        foreach ($cells === '' ? [] : str_split($cells, $per) as $some) {
            for ($byte = 0, $i = 0; $i < strlen($some); $i++)
                $byte |= $counting ? min(ord($some[$i]), 15) << 4 * (1 - $i) : ($some[$i] !== "\0" ? 0x80 >> $i : 0);
            $bytes .= chr($byte);
        }
        return $bytes;
    }
}
