#!/usr/bin/env php
<?php
/* seckill.php - a flash sale: each user may order once.  For the next sale the filter is empty again.
 *
 *     seckill.php FILE SECONDS USER...    prints "ordered" or "once is enough" for each
 *
 * add() decides: true for the first order of a user, false for all others, in any worker. Each attempt restarts the user's
 * window, so a user who keeps trying is refused; a user who comes back after the sale may order again. The filter needs no
 * clearing, and its size does not depend on the number of attempts. */

if ($argc < 4 || !((float)$argv[2] > 0)) {
    fwrite(STDERR, "usage: seckill.php FILE SECONDS USER...\n");
    exit(2);
}
$ordered = new BloomFilter(n: 100_000, p: 1e-6, window: (float)$argv[2], parts: 2, storage: $argv[1]);
foreach (array_slice($argv, 3) as $user) echo $user, ': ', $ordered->add($user) ? 'ordered' : 'once is enough', "\n";
