#!/usr/bin/env php
<?php
/* online.php - who is online?  Reads lines "+NAME" and "-NAME", and answers "?NAME" with yes or no.
 *
 *     printf '+ann\n+bob\n-ann\n?ann\n?bob\n' | online.php [FILE]
 *
 * With a FILE all processes that run it share who is online.  "No" is never wrong, as long as a name that leaves has come
 * before. */
$online = new CountingBloomFilter(n: 100_000, p: 0.01, storage: $argv[1] ?? null);
while (($line = fgets(STDIN)) !== false) {
    $name = rtrim(substr($line, 1), "\n");
    match ($line[0]) {
        '+' => $online->add($name),
        '-' => $online->remove($name) || print "$name was not here\n",
        '?' => print "$name: " . ($online->exists($name) ? 'yes' : 'no') . "\n",
        default => null,
    };
}
