#!/usr/bin/env php
<?php
/* seckill.php - a flash sale: each user may order once while it lasts, and the filter is empty again for the next one.
 *
 *     seckill.php FILE SECONDS USER...    prints "ordered" or "once is enough" for each
 *
 * add() alone decides: true for the first order of a user, false for each further one, in whatever worker it arrives. A user
 * who keeps trying stays out (each try restarts the window); one who comes back after the sale may order again. Nobody has to clear
 * anything, and the set takes the same room however many try. */

if ($argc < 4 || !((float)$argv[2] > 0)) {
    fwrite(STDERR, "usage: seckill.php FILE SECONDS USER...\n");
    exit(2);
}
$ordered = new BloomFilter(n: 100_000, p: 1e-6, window: (float)$argv[2], parts: 2, storage: $argv[1]);
foreach (array_slice($argv, 3) as $user) echo $user, ': ', $ordered->add($user) ? 'ordered' : 'once is enough', "\n";
