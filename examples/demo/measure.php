<?php
/* measure.php - the demo's PHP side: one measurement a process, as lines "name value".  measure.py is its twin.
 *
 *     measure.php filter-memory STREAM N P        resident bytes that a filter of all lines takes
 *     measure.php set-memory STREAM               the same of an array
 *     measure.php run STREAM WORDS N P FILE       answers, rates, times; saves the filter
 *     measure.php open FILE STREAM                loads a filter somebody else saved, looks for every line */
declare(strict_types=1);
ini_set('memory_limit', '-1');

const BATCH = 4096;
const ROUNDS = 40;                           // keys never added: so many for each word

function lines_of(string $path): Generator
{
    $file = fopen($path, 'rb');
    while (($line = fgets($file)) !== false) yield substr($line, 0, -1);
}

function batches_of(string $path): Generator
{
    $batch = [];
    foreach (lines_of($path) as $line) {
        $batch[] = $line;
        if (count($batch) < BATCH) continue;
        yield $batch;
        $batch = [];
    }
    yield $batch;
}

function say(string $name, int|float|string $value): void { echo "$name $value\n"; }

/** Bytes of memory of its own: pages of program files, which others share, do not count. */
function resident(): int
{
    preg_match('/^Anonymous:\s+(\d+)/m', file_get_contents('/proc/self/smaps_rollup'), $found);
    return 1024 * (int) $found[1];
}

/** What is resident after all lines went in, less what reading them leaves. */
function memory(string $stream, callable $make, string $result): void
{
    foreach (batches_of($stream) as $batch) count($batch);
    $before = resident();
    $take_in = $make();
    foreach (batches_of($stream) as $batch) $take_in($batch);
    say($result, resident() - $before);
}

function into_array(array $batch): void
{
    static $exact = [];
    foreach ($batch as $line) $exact[$line] = true;
}

/** Against the exact answer: the keys of an array. */
function answers(string $stream, int $n, float $p): BloomFilter
{
    $seen = new BloomFilter(n: $n, p: $p);
    $exact = [];
    $told = $lost = $again = 0;
    foreach (lines_of($stream) as $line) {
        $is_new = !isset($exact[$line]);
        $exact[$line] = true;
        $said_new = $seen->add($line);
        $told += (int) $said_new;
        $lost += (int) ($is_new && !$said_new);
        $again += (int) ($said_new && !$is_new);
    }
    say('new_exact', count($exact));
    say('new_filter', $told);
    say('lost', $lost);
    say('again', $again);
    return $seen;
}

function false_positives(BloomFilter $seen, string $words): void
{
    $told = $asked = 0;
    for ($i = 0; $i < ROUNDS; $i++) {
        foreach (batches_of($words) as $batch) {
            foreach ($batch as &$word) $word = "https://never-added.example.net/$i/$word";
            unset($word);
            $told += array_sum($seen->existMany($batch));
            $asked += count($batch);
        }
    }
    say('absent_asked', $asked);
    say('absent_told', $told);
}

function timed(string $name, int $count, callable $work): void
{
    $best = PHP_INT_MAX;
    for ($i = 0; $i < 3; $i++) {
        $start = hrtime(true);
        $work();
        $best = min($best, hrtime(true) - $start);
    }
    say($name, $best / $count);
}

function add_each(BloomFilter $seen, array $lines): void { foreach ($lines as $line) $seen->add($line); }

function set_each(array $lines): void
{
    $exact = [];
    foreach ($lines as $line) $exact[$line] = true;
}

function times(string $stream, int $n, float $p): void
{
    $lines = iterator_to_array(lines_of($stream));
    timed('ns_add', count($lines), fn() => add_each(new BloomFilter(n: $n, p: $p), $lines));
    timed('ns_batch', count($lines), fn() => (new BloomFilter(n: $n, p: $p))->addMany($lines));
    timed('ns_exact', count($lines), fn() => set_each($lines));
    say('lines', count($lines));
}

function run(string $stream, string $words, int $n, float $p, string $path): void
{
    $seen = answers($stream, $n, $p);
    false_positives($seen, $words);
    times($stream, $n, $p);
    $seen->save($path);
    say('scheme', $seen->scheme);
    say('bits_a_key', $seen->m / $seen->n);
    say('sha256', hash('sha256', $seen->toBytes()));
}

function open_other(string $path, string $stream): void
{
    $seen = BloomFilter::load($path);
    $found = 0;
    foreach (batches_of($stream) as $batch) $found += array_sum($seen->existMany($batch));
    say('found', $found);
    say('sha256', hash('sha256', $seen->toBytes()));
}

[, $what, $path] = $argv;
$rest = array_slice($argv, 3);
match ($what) {
    'filter-memory' => memory($path, fn() => (new BloomFilter(n: (int) $rest[0], p: (float) $rest[1]))->addMany(...), 'filter_bytes'),
    'set-memory' => memory($path, fn() => into_array(...), 'exact_bytes'),
    'run' => run($path, $rest[0], (int) $rest[1], (float) $rest[2], $rest[3]),
    'open' => open_other($path, $rest[0]),
};
