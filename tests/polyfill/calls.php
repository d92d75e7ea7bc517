<?php
/* calls.php - calls with arguments at random, one line for each: what it returned or threw. test_same_calls.py compares the lines with the extension's.
 * Arguments: seed, number of calls, a path for images of filters. */
ini_set('memory_limit', '-1');
mt_srand((int) $argv[1]);
set_error_handler(fn() => true);    # the warning of an overfull filter comes at another call
class Text { public function __construct(private string $text) {} public function __toString(): string { return $this->text; } }
function pick(array $of): mixed { return $of[mt_rand(0, count($of) - 1)]; }
function chance(int $percent): bool { return mt_rand(1, 100) <= $percent; }

/** Values of any type: mostly what a parameter takes, else what it may not. */
function value(string $name): mixed
{
    if (chance(8)) return pick([null, true, false, '', 'x', '5', '1e3', "a\0b", [], [1], 0, -1, 1.5, NAN, INF, -INF, PHP_INT_MAX, PHP_INT_MIN, 1e30, new stdClass, new Text('7')]);
    return match ($name) {
        'm' => pick([1, 7, 512, 1000, 4096, 65536, 1e4, mt_rand(1, 200000)]),
        'n' => pick([1, 10, 100, 1000, 1e3, mt_rand(1, 5000)]),
        'k' => pick([1, 2, 3, 7, 8, 9, 16, 17, 4096, 4097, mt_rand(1, 30)]),
        'p' => pick([0.5, 0.1, 0.01, 1e-3, 1e-6, 1e-12, 0.0, 1.0, 0.999]),
        'scheme' => pick(['block', 'block2', 'classic', 'php-mt', 'php-mt-legacy', 'php-hashes', 'gozero', 'Block', 'blok', 'auto']),
        'secret' => pick([null, 'short', str_repeat('s', 17)]),
        'grow' => pick([1.0, 2.0, 4, 0.5, 1024.0, 1025.0]),
        'shards' => pick([1, 2, 4, 0, 4097]),
        'overfull' => pick(['warn', 'raise', 'ignore', 'Raise']),
        'timeout' => pick([0.5, 1, 0, 1e9]),
        'key' => pick([chance(50) ? 'a' : mt_rand(0, 300), mt_rand(0, 100), "k\0", new Text('t'), '', str_repeat('long', 300)]),
        'keys' => array_map(fn() => chance(2) ? value('key') : 'u' . mt_rand(0, 900), range(0, mt_rand(0, 400))),
        'format' => pick([null, 'bits', 'redis', 'none', '']),
    };
}
function arguments(string ...$names): array
{
    foreach ($names as $name) $given[$name] = value($name);
    return $given ?? [];
}
function some(int $percent, string ...$names): array { return arguments(...array_filter($names, fn() => chance($percent))); }

/** Arguments that fit together, of each scheme and kind. */
function shape(): array
{
    $m = mt_rand(100, 60000);
    $n = mt_rand(1, 3000);
    $rate = ['n' => $n, 'p' => 10 ** -(mt_rand(3, 60) / 10)];
    return match (mt_rand(0, 14)) {
        0 => $rate,
        1 => ['m' => mt_rand(1, 60000), 'k' => mt_rand(1, 30)],
        2 => $rate + ['scheme' => 'classic'],
        3 => $rate + ['scheme' => 'block2'],
        4 => $rate + ['scheme' => 'block'],
        5, 6 => $rate + ['grow' => 1 + mt_rand(1, 60) / 10],
        7 => ['m' => $m, 'k' => mt_rand(1, 9), 'scheme' => 'php-mt'],
        8 => ['m' => $m, 'k' => mt_rand(1, 9), 'scheme' => 'php-mt-legacy'],
        9 => ['m' => $m, 'scheme' => 'gozero'],
        10 => $rate + ['shards' => mt_rand(1, 9)],
        11 => $rate + ['secret' => str_pad("$n", 16, 's')],
        12 => ['m' => mt_rand(1, 5_000_000), 'p' => $rate['p']],
        13 => ['m' => 512 * mt_rand(1, 40), 'k' => mt_rand(9, 16), 'scheme' => 'block'],
        14 => ['m' => $m, 'n' => $n],
    };
}

// ---- images of filters, changed at random, most with checksums that fit again ----
function sum(string $bytes): string { return strrev(hash('xxh3', $bytes, true)); }
/** The checksums of the header that begins at $at. */
function sealed(string $b, int $at): string
{
    $put = function (int $to, string $text) use (&$b) { $b = substr_replace($b, $text, $to, strlen($text)); };
    if (strlen($b) - $at >= 64 && unpack('V', $b, $at + 8)[1] === 2) $put($at + 16, sum(substr($b, $at + 24)));
    elseif (strlen($b) - $at >= 4096) {
        $put($at + 16, sum(substr($b, $at + 24, 2024)));
        $page = substr($b, $at, 4096);
        $put($at + 4088, sum(substr($page, 0, 2048) . substr($page, 2056, 8) . substr($page, 2056, 24) . str_repeat("\0", 8) . substr($page, 2088, 2000)));
    }
    return $b;
}

function damaged(string $b): string
{
    $heads = [0];
    for ($at = 8; ($at = strpos($b, "\x8BBLM\r\n\x1a\n", $at)) !== false; $at++) $heads[] = $at;
    for ($times = mt_rand(0, 3); $times--;) {
        [$from, $bytes] = pick([[8, 4], [12, 4], [16, 8], [24, 4], [28, 4], [32, 8], [40, 8], [48, 4], [52, 4], [56, 8], [64, 8], [72, 8], [80, 8], [88, 8], [96, 8], [144, 8], [152, 8], [160, 4],
            [192, 4], [2048, 8], [2056, 8], [2064, 8], [2072, 8], [2080, 8], [2088, 8], [mt_rand(0, 200), 1], [mt_rand(0, strlen($b) - 1), 1]]);
        $from += pick($heads);
        $number = pick([0, 1, 2, 3, 4, 5, 15, 63, 64, 255, 256, 511, 512, 4095, 4096, 4097, 65536, 0x7fffffff, 0x80000000, 0xffffffff, 1 << 40, (1 << 40) + 1, PHP_INT_MAX, -1, PHP_INT_MIN,
            mt_rand(), mt_rand() << 33 ^ mt_rand()]);
        $old = substr($b, $from, $bytes);
        if (strlen($old) === $bytes) $b = substr_replace($b, chance(80) ? substr(pack('P', $number), 0, $bytes) : $old ^ pack('P', 1 << mt_rand(0, 30)), $from, $bytes);
    }
    if (chance(15)) $b = substr($b, 0, mt_rand(0, strlen($b)));
    if (chance(10)) $b .= str_repeat("\0", mt_rand(1, 9000));
    if (chance(90)) foreach (array_reverse($heads) as $head) if ($head < strlen($b)) $b = sealed($b, $head);
    return $b;
}

/** Prints what the three ways to read one say. */
function read_damaged(BloomFilter $f, string $class, string $path): void
{
    $f->save($path);                                            # with header pages
    $bytes = damaged(chance(50) ? $f->toBytes() : file_get_contents($path));
    unlink($path);                                              # another one may be mapped
    file_put_contents($path, $bytes);
    foreach ([fn() => $class::fromBytes($bytes), fn() => $class::load($path), fn() => $class::open($path, readOnly: true)] as $read) echo said($read), ' | ';
}

function shown(mixed $value): string
{
    if ($value instanceof BloomFilter) return get_class($value) . ' ' . md5($value->toBytes());
    if (is_float($value)) return is_nan($value) ? 'NAN' : sprintf('%.9g', $value);
    if (is_string($value) && strlen($value) > 60) return strlen($value) . ' ' . md5($value);
    if (is_array($value)) return '[' . implode(', ', array_map(fn($k) => "$k: " . shown($value[$k]), array_keys($value))) . ']';
    return is_object($value) ? get_class($value) : var_export($value, true);
}

/** What a call returned or threw. */
function said(callable $do): string
{
    try {
        return shown($do());
    } catch (Throwable $e) {
        return get_class($e) . ' ' . $e->getCode() . ' ' . preg_replace('/, called in .*/', '', $e->getMessage()) . ' ' . shown($e->index ?? null);
    }
}

$filters = [];
function keep(BloomFilter $f): BloomFilter { return $GLOBALS['filters'][] = $f; }
$made = fn() => pick(['BloomFilter', 'BloomFilter', 'CountingBloomFilter']);
for ($call = 0; $call < (int) $argv[2]; $call++) {
    $f = $filters ? pick($filters) : null;
    $g = $filters ? pick($filters) : null;
    $method = !$f || chance(15) ? 'new' : pick(['add', 'addKey', 'exists', 'existKey', 'hashcode', 'addMany', 'existMany', 'addNew', 'union', 'intersect', 'equals', 'isSubsetOf',
        'merge', 'unionCount', 'intersectionCount', 'count', 'fillRatio', 'fpr', 'saturated', 'info', 'clear', 'toBytes', 'again', 'partInfo', 'sync', 'expire', 'rebuild', 'shards', 'delete',
        'close', 'clone', 'serialize', 'remove', 'removeMany', 'countOf', 'toPlain', 'plan', 'property', ...array_fill(0, 12, 'damaged')]);
    $class = $made();
    $do = match ($method) {
        'new' => (fn($given) => fn() => keep(new $class(...$given)))(chance(50) ? shape() : some(80, 'n', 'p') + some(7, 'm', 'k', 'scheme', 'secret', 'shards', 'overfull', 'timeout', 'grow')),
        'plan' => (fn($given) => fn() => $class::plan(...$given))(chance(50) ? shape() : some(80, 'n', 'p') + some(10, 'm', 'k', 'scheme', 'shards', 'overfull', 'grow')),
        'add', 'addKey', 'exists', 'existKey', 'hashcode', 'remove', 'countOf' => (fn($key) => fn() => $f->$method($key))(value('key')),
        'addMany', 'existMany', 'addNew', 'rebuild', 'removeMany' => (fn($keys) => fn() => $f->$method($keys))(value('keys')),
        'union', 'intersect', 'equals', 'isSubsetOf', 'merge', 'unionCount', 'intersectionCount' => fn() => $f->$method($g),
        'toBytes' => (fn($format) => fn() => $f->toBytes($format))(value('format')),
        'expire' => (fn($seconds) => fn() => $f->expire($seconds))(pick([null, 0, 1, -1, 0.5, 1e11])),
        'again' => (fn($given) => fn() => keep($class::fromBytes($f->toBytes(), ...$given)))(some(10, 'm', 'n', 'k', 'p', 'scheme', 'overfull', 'secret')),
        'damaged' => fn() => read_damaged($f, $class, $argv[3]),
        'clone' => fn() => keep(clone $f),
        'serialize' => fn() => unserialize(serialize($f)),
        'property' => (fn($name) => fn() => $f->$name)(pick(['m', 'n', 'k', 'p', 'scheme', 'bitset', 'grow', 'window', 'parts', 'created', 'none'])),
        default => fn() => $f->$method(),
    };
    echo "$call $method ", said($do), "\n";
    if (count($filters) > 12) {
        [$old] = array_splice($filters, mt_rand(0, 11), 1);
        echo 'in the end: ', said(fn() => $old), "\n";
    }
}
