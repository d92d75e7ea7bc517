#!/usr/bin/env php
<?php
/* once_a_day.php - allows one registration per day and address, for all workers of a machine.
 *
 *     once_a_day.php FILE ADDRESS...        prints "welcome" or "come back tomorrow" for each
 *
 * The filter in FILE forgets an address a day after its registration, at most an hour later. A refused attempt must not
 * restart the day, as add() alone would do, so the program calls exists() first. Of two attempts at the same moment, add()
 * allows at least one. A new address is refused with probability p. */

const DAY = 86400;

function may_register(BloomFilter $seen, string $address): bool
{
    return !$seen->exists($address) && $seen->add($address);
}

if ($argc < 3) {
    fwrite(STDERR, "usage: once_a_day.php FILE ADDRESS...\n");
    exit(2);
}
$seen = new BloomFilter(n: 50_000, p: 1e-6, window: DAY, parts: 24, storage: $argv[1]);
foreach (array_slice($argv, 2) as $address) echo $address, ': ', may_register($seen, $address) ? 'welcome' : 'come back tomorrow', "\n";
