#!/usr/bin/env php
<?php
/* dedup.php - prints each line once, and takes only a few bits per line.
 *
 *     dedup.php urls.txt
 *     crawler | dedup.php --seen=seen.bloom
 *
 * With --seen it remembers the lines from run to run.  Any number of dedup.php, dedup.py and dedup.c can use the file at the
 * same time.  A repeated line is never printed; a new line is dropped with probability -p.
 * Options: -n LINES (different lines expected, 1000000), -p RATE (0.000001), --seen=FILE (created if it does not exist). */
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
    $new = $seen->addNew($batch);            // the surely new lines of the batch
    if ($new) echo implode("\n", $new), "\n";
    $total += count($batch);
    $fresh += count($new);
}
$seen->sync();
fprintf(STDERR, "dedup: %d lines, %d new, %d seen before\n", $total, $fresh, $total - $fresh);
