<?php

/**
 * bench.php N ROUNDS FOLDER - the extension beside empty methods and PHP's own array, interleaved in one process.
 *
 * Prints raw times for ../report.py. Table php: keys from one array made before, as from a file or a database; nothing
 * has hashed them yet: PHP keeps a string's hash, so each measurement gets strings of its own. Table php-built: each key,
 * or each batch of 1000, is put together right before its use; the "no call" rows do only that, and are taken away from
 * both sides of a ratio.
 */

const P = 0.01;
const BATCH = 1000;
const FACTOR = 618033988747;      // odd and no multiple of 5: the 12 digits never repeat
const MODULUS = 10 ** 12;
const FIRST = 10 ** 11;

final class EmptyMethod
{
    public function add(string $key): bool { return false; }

    public function exists(string $key): bool { return false; }
}

function emit(string|int|float ...$cells): void { echo implode("\t", $cells), "\n"; }

/** All but the last 12 of a key's 68 bytes. */
function prefix(string $word): string { return "https://www.example.com/shop/$word/item?colour=blue&code="; }

function make_keys(string $word, int $n): array
{
    $keys = [];
    for ($i = 1; $i <= $n; $i++) $keys[] = sprintf('%s%012d', prefix($word), $i * FACTOR % MODULUS);
    return $keys;
}

// ---- loops over a list of keys; batches are cut before the clock starts ----
function list_nothing($f, array $keys): void { foreach ($keys as $key); }
function list_add($f, array $keys): void { foreach ($keys as $key) $f->add($key); }
function list_exists($f, array $keys): void { foreach ($keys as $key) $f->exists($key); }
function list_add_many($f, array $batches): void { foreach ($batches as $batch) $f->addMany($batch); }
function list_exist_many($f, array $batches): void { foreach ($batches as $batch) $f->existMany($batch); }
function list_set(array $f, array $keys): void { foreach ($keys as $key) $f[$key] = true; }
function list_isset(array $f, array $keys): void { foreach ($keys as $key) isset($f[$key]); }

// ---- loops that put the keys together ----
function built_nothing($f, string $prefix, int $n): void { for ($i = FIRST; $i < FIRST + $n; $i++) $key = $prefix . $i; }
function built_add($f, string $prefix, int $n): void { for ($i = FIRST; $i < FIRST + $n; $i++) { $key = $prefix . $i; $f->add($key); } }
function built_exists($f, string $prefix, int $n): void { for ($i = FIRST; $i < FIRST + $n; $i++) { $key = $prefix . $i; $f->exists($key); } }
function built_set(array $f, string $prefix, int $n): void { for ($i = FIRST; $i < FIRST + $n; $i++) { $key = $prefix . $i; $f[$key] = true; } }
function built_isset(array $f, string $prefix, int $n): void { for ($i = FIRST; $i < FIRST + $n; $i++) { $key = $prefix . $i; isset($f[$key]); } }

function batch_of(string $prefix, int $first): array
{
    $batch = [];
    for ($i = $first; $i < $first + BATCH; $i++) $batch[] = $prefix . $i;
    return $batch;
}

function built_nothing_many($f, string $prefix, int $n): void { for ($i = FIRST; $i < FIRST + $n; $i += BATCH) batch_of($prefix, $i); }
function built_add_many($f, string $prefix, int $n): void { for ($i = FIRST; $i < FIRST + $n; $i += BATCH) $f->addMany(batch_of($prefix, $i)); }
function built_exist_many($f, string $prefix, int $n): void { for ($i = FIRST; $i < FIRST + $n; $i += BATCH) $f->existMany(batch_of($prefix, $i)); }

// ---- subjects: how to make an empty one, and the loops [list, built] that add and that ask ----
function subjects(int $n, string $folder): array
{
    $filter = fn() => new BloomFilter(n: $n, p: P);
    $mapped = function () use ($n, $folder) {
        $path = tempnam($folder, 'bench');
        unlink($path);
        register_shutdown_function(fn() => @unlink($path));
        return new BloomFilter(n: $n, p: P, storage: $path);
    };
    $method = [['list_add', 'built_add'], ['list_exists', 'built_exists']];
    $batch = [['list_add_many', 'built_add_many'], ['list_exist_many', 'built_exist_many']];
    return [
        'no call' => [fn() => null, ['list_nothing', 'built_nothing'], ['list_nothing', 'built_nothing']],
        'no call, batches of 1000' => [fn() => null, [null, 'built_nothing_many'], [null, 'built_nothing_many']],
        'empty internal method' => [fn() => new BenchEmpty(), ...$method],
        'empty method in PHP' => [fn() => new EmptyMethod(), ...$method],
        'bloomfilter' => [$filter, ...$method],
        'bloomfilter, mapped file' => [$mapped, ...$method],
        'bloomfilter, batches of 1000' => [$filter, ...$batch],
        'array' => [fn() => [], ['list_set', 'built_set'], ['list_isset', 'built_isset']],
    ];
}

const OPS = ['add' => ['here', 1], 'exists present' => ['here', 2], 'exists absent' => ['gone', 2]];

/** What holds every key of both flows, where it holds keys at all. */
function filled(callable $make, int $n)
{
    $f = $make();
    if ($f instanceof BloomFilter) $f->addMany(make_keys('here', $n));
    if (is_array($f)) $f = array_fill_keys(make_keys('here', $n), true);
    return $f;
}

/** Nanoseconds of CPU time: what others take from a shared machine meanwhile does not count. */
function now(): int
{
    $used = getrusage();
    return 1_000_000_000 * ($used['ru_utime.tv_sec'] + $used['ru_stime.tv_sec']) + 1000 * ($used['ru_utime.tv_usec'] + $used['ru_stime.tv_usec']);
}

function timed(callable $loop, $f, mixed ...$args): int
{
    $start = now();
    $loop($f, ...$args);
    return now() - $start;
}

function list_round(int $n, int $round, array $subjects, array $filled): void
{
    foreach (OPS as $op => [$word, $which]) {
        foreach ($subjects as $name => $subject) {
            $loop = $subject[$which][0];
            if (!$loop) continue;
            $keys = make_keys($word, $n);
            if (str_ends_with($loop, '_many')) $keys = array_chunk($keys, BATCH);
            emit('ns', 'php', $name, $op, $round, timed($loop, $op == 'add' ? $subject[0]() : $filled[$name], $keys) / $n);
            unset($keys);
        }
    }
}

function built_round(int $n, int $round, array $subjects, array $filled): void
{
    foreach (OPS as $op => [$word, $which]) {
        foreach ($subjects as $name => $subject) {
            $f = $op == 'add' ? $subject[0]() : $filled[$name];
            emit('ns', 'php-built', $name, $op, $round, timed($subject[$which][1], $f, prefix($word), $n) / $n);
        }
    }
}

/** The flow that puts keys together has keys of its own: they go in by its own loops. */
function filled_by_loops(int $n, array $subjects): array
{
    $filled = [];
    foreach ($subjects as $name => [$make]) {
        $f = $make();
        if ($f instanceof BloomFilter) built_add_many($f, prefix('here'), $n);
        if (is_array($f)) for ($i = FIRST; $i < FIRST + $n; $i++) $f[prefix('here') . $i] = true;
        $filled[$name] = $f;
    }
    return $filled;
}

function main(int $n, int $rounds, string $folder): void
{
    $subjects = subjects($n, $folder);
    emit('fact', 'PHP', PHP_VERSION . (ini_get('opcache.enable_cli') ? ' with opcache' : ' without opcache'));
    $size = strlen(make_keys('here', 1)[0]);
    emit('table', 'php', 'ns', "PHP: n = $n, p = 1 %, keys of $size B from an array, $rounds rounds: ns a key, foreach included");
    emit('table', 'php-built', 'ns', 'PHP, the same, keys put together right before use: ns a key, that included');
    $filled = array_map(fn($subject) => filled($subject[0], $n), $subjects);
    $bits = $filled['bloomfilter']->m / $n;
    emit('fact', 'bloomfilter in PHP', sprintf('%.2f bits a key', $bits));
    for ($round = 0; $round < $rounds; $round++) {
        fwrite(STDERR, 'php: round ' . ($round + 1) . " of $rounds\n");
        list_round($n, $round, $round % 2 ? array_reverse($subjects) : $subjects, $filled);
    }
    $filled = filled_by_loops($n, $subjects);
    for ($round = 0; $round < $rounds; $round++) {
        fwrite(STDERR, 'php-built: round ' . ($round + 1) . " of $rounds\n");
        built_round($n, $round, $round % 2 ? array_reverse($subjects) : $subjects, $filled);
    }
}

gc_disable();
main((int) $argv[1], (int) $argv[2], $argv[3]);
