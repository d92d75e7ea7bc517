<?php
namespace Bloomfilter\Polyfill;

/** Makes every exception.  A message is one sentence in lower case, as the extension writes it: with the value. */
final class Fault
{
    private const LONGEST = 159;

    private const RANGES = [
        'm' => '1 to 1099511627776 bits',
        'n' => '1 to 9223372036854775807 keys',
        'k' => '1 to 4096 positions',
        'p' => 'above 0 and below 1',
        'secret' => '16 bytes',
        'overfull' => 'warn, raise or ignore',
        'grow' => 'a factor from 1 to 1024',
        'window' => 'a number of seconds above 0, 0.0001 or more for each part, at most 1e300',
        'shards' => '1 to 4096',
        'parts' => '1 to 255',
        'timeout' => '0.001 to 86400 seconds',
        'retryAfter' => '0 to 86400 seconds',
        'cacheMaxAge' => 'a number of seconds above 0',
        'waitReplicas' => '1 to 4294967295 replicas',
    ];

    public static function value(string $format, mixed ...$values): \ValueError
    {
        return Signals::held(fn() => new \ValueError(self::text($format, $values)));
    }

    public static function fail(int $code, string $format, mixed ...$values): \BloomFilterException
    {
        return Signals::held(fn() => new \BloomFilterException(self::text($format, $values), $code));
    }

    public static function damaged(string $where, string $what): \BloomFilterException
    {
        return self::fail(\BloomFilterException::FORMAT, '%.80s is damaged: %s', $where, $what);
    }

    public static function unsupported(string $format, mixed ...$values): \BloomFilterException
    {
        return self::fail(\BloomFilterException::NOT_SUPPORTED, $format, ...$values);
    }

    private static string $warning = '';

    /** Calls a function of PHP without its warning, which file() then has; a handler of the program does not see it. */
    public static function quietly(callable $call, mixed ...$arguments): mixed
    {
        self::$warning = '';
        set_error_handler(fn(int $level, string $text) => (bool) self::$warning = $text);
        try {
            return $call(...$arguments);
        } finally {
            restore_error_handler();
        }
    }

    /** A missing file has a code of its own. */
    public static function file(string $what, string $path): \BloomFilterException
    {
        $why = str_contains(self::$warning, ': ') ? substr(self::$warning, strrpos(self::$warning, ': ') + 2) : 'unknown error';
        $why = preg_replace('/^.*errno=\d+ /', '', $why);
        $shown = strlen($path) > 80 ? '...' . substr($path, -80) : $path;
        $absent = $what === 'open' && $why === 'No such file or directory';
        return self::fail($absent ? \BloomFilterException::NOT_FOUND : \BloomFilterException::IO, 'cannot %s %s: %s', $what, $shown, $why);
    }

    public static function closed(): \BloomFilterException
    {
        return new \BloomFilterException('the filter is closed, or was never constructed', \BloomFilterException::CLOSED);
    }

    public static function refuse(string $name, int|float|string $value): \ValueError
    {
        $text = is_float($value) ? preg_replace('/\.0$/', '', var_export($value, true)) : $value;
        $rest = strlen($text) > 40 ? '...' : '';
        $message = self::text('%s must be %s, got %.40s%s', [$name, self::RANGES[$name], $text, $rest]);
        if ($name === 'n' && is_float($value) && $value > 0 && $value < 1) {
            $message .= "; for a rate write new BloomFilter(n: keys, p: $text)";
        }
        return new \ValueError(substr($message, 0, self::LONGEST));
    }

    /** A value that is a number of the right type, as C prints it. */
    public static function refuseReal(string $name, float $value): \ValueError
    {
        $short = self::number($value);
        return self::refuse($name, (float) $short === $value ? $short : self::number($value, 17));
    }

    /** %g of C, which PHP's differs from. */
    public static function number(float $v, int $digits = 6): string
    {
        if (!is_finite($v)) return is_nan($v) ? 'nan' : ($v < 0 ? '-inf' : 'inf');
        if ($v == 0) return fdiv(1, $v) < 0 ? '-0' : '0';
        [$text, $e] = explode('e', strtr(sprintf('%.' . $digits - 1 . 'e', $v), ',', '.'));
        $small = $e >= -4 && $e < $digits;
        $text = $small ? sprintf('%.' . $digits - 1 - (int) $e . 'F', $v) : $text;
        $text = str_contains($text, '.') ? rtrim(rtrim($text, '0'), '.') : $text;
        return $small ? $text : sprintf('%se%s%02d', $text, $e < 0 ? '-' : '+', abs((int) $e));
    }

    /** sprintf with %g as in C; longer texts are cut, as those of the extension are. */
    private static function text(string $format, array $values): string
    {
        $i = 0;
        $format = preg_replace_callback('/%(?:\.(\d+))?([a-zA-Z%])/', function (array $at) use (&$i, &$values) {
            if ($at[2] === '%') return $at[0];
            $value = &$values[$i++];
            if ($at[2] === 'g') {
                $value = self::number($value, (int) ($at[1] ?: 6));
                return '%s';
            }
            return $at[0];
        }, $format);
        return substr(vsprintf($format, $values), 0, self::LONGEST);
    }
}
