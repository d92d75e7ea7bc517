#!/usr/bin/env php
<?php
/* dedup.php - prints every line the first time it comes, and drops it from then on, in a few bits per line.
 *
 *     dedup.php urls.txt                       a list with repeats in, each line once out
 *     crawler | dedup.php --seen=seen.bloom    remembers from run to run, and shares the file with every other dedup
 *                                              that runs at the same time: this one, dedup.py or dedup.c
 *
 * With a small chance (-p) a new line is taken for a repeat and dropped; a repeat is never printed.
 * Options: -n LINES (different lines expected, 1000000), -p RATE (0.000001), --seen=FILE (made if it is not there). */
declare(strict_types=1);

const BATCH = 4096;

/** @return iterable<list<string>> the lines of all files, BATCH at a time, without their line ends */
function batches(array $files): iterable
{
    $batch = [];
    foreach ($files as $file) {
        $in = fopen($file, 'rb') or exit(2);
        while (($line = fgets($in)) !== false) {
            $batch[] = rtrim($line, "\n");
            if (count($batch) === BATCH) {
                yield $batch;
                $batch = [];
            }
        }
        fclose($in);
    }
    if ($batch) yield $batch;
}

$options = getopt('n:p:', ['seen:'], $rest);
$seen = new BloomFilter(
    n: (int) ($options['n'] ?? 1_000_000),
    p: (float) ($options['p'] ?? 1e-6),
    storage: $options['seen'] ?? null,       // null: memory of this process
);

$total = $fresh = 0;
foreach (batches(array_slice($argv, $rest) ?: ['php://stdin']) as $batch) {
    $new = $seen->addNew($batch);            // those of the batch that are surely new
    if ($new) echo implode("\n", $new), "\n";
    $total += count($batch);
    $fresh += count($new);
}
$seen->sync();
fprintf(STDERR, "dedup: %d lines, %d new, %d seen before\n", $total, $fresh, $total - $fresh);
