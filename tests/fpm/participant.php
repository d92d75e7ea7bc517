<?php
/* participant.php - PHP on the command line beside the workers.
 *   add FILE NAME FROM TO     adds the keys "NAME:FROM" to "NAME:TO-1" one by one, then prints "NAME FROM TO"
 *   check FILE                reads such lines and prints how many of their keys are absent */
[, $do, $path] = $argv;

function add(string $path, string $name, int $from, int $to): void
{
    $f = new BloomFilter(n: 1_000_000, p: 0.0001, storage: $path);
    for ($i = $from; $i < $to; $i++) {
        $f->add("$name:$i");
        if ($i % 1000 === 0) usleep(5000);                  # so that it lasts as long as the others
    }
    echo "$name $from $to\n";
}

function missing(string $path): int
{
    $f = BloomFilter::open($path);
    $missing = 0;
    while (fscanf(STDIN, '%s %d %d', $name, $from, $to) === 3)
        for ($i = $from; $i < $to; $i++) $missing += !$f->exists("$name:$i");
    return $missing;
}

if ($do === 'add') add($path, $argv[3], (int)$argv[4], (int)$argv[5]);
else echo missing($path), "\n";
