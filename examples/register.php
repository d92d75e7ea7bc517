#!/usr/bin/env php
<?php
/* register.php - "is this phone number registered?", asked of a filter in Redis before cache and database.  Numbers that nobody has
 * would otherwise go through the cache to the database every time (cache penetration), and a robot has many of them.
 *
 *     register.php URL rebuild < all-numbers       once a night: the filter holds what the database holds; nobody waits
 *     register.php URL add 13800000000 [DATABASE]  registers a number: first in the filter, then in DATABASE
 *     register.php URL check DATABASE < numbers    prints each number and yes or no; asks DATABASE (here a file, one number per
 *                                                  line) only for those that the filter may hold.  Give a URL with
 *                                                  &timeout=0.1: longer than that nobody waits for a Redis that stalls, and
 *                                                  for a second after that (retry_after) nobody waits at all
 *
 * The filter says "no" surely and "yes" probably: a "yes" is looked up.  A lost filter is an exception, never "no"; then ask
 * the database, and rebuild.
 *
 * The filter gets a number before the database does.  A crash between the two leaves a number that only the filter has: one more
 * false positive.  In the other order the database would have a number to which the filter says "no".  For the same reason add the
 * numbers that registered during a rebuild again after it. */
declare(strict_types=1);

function numbers(): iterable
{
    while (($line = fgets(STDIN)) !== false) yield rtrim($line, "\n");
}

function check(BloomFilter $registered, array $database): void
{
    $asked = $hits = $all = 0;
    foreach (numbers() as $number) {
        $all++;
        $yes = false;
        try {
            $may = $registered->exists($number);
        } catch (BloomFilterException $e) {
            fwrite(STDERR, "register: {$e->getMessage()}\n");
            $may = true;                                 // not known: the database knows
        }
        if ($may) {
            $asked++;
            $yes = isset($database[$number]);            // here: SELECT 1 FROM users WHERE phone = ?
            $hits += (int) $yes;
        }
        echo $number, $yes ? " yes\n" : " no\n";
    }
    fprintf(STDERR, "register: %d numbers, %d asked of the database, %d registered\n", $all, $asked, $hits);
}

/* True: new in the filter. */
function register(BloomFilter $registered, string $number, string $database): bool
{
    $new = $registered->add($number);                    // first: see above
    if ($database === '') return $new;
    if (@file_put_contents($database, "$number\n", FILE_APPEND | LOCK_EX) === false) {   // here: INSERT INTO users ...
        fwrite(STDERR, "register: cannot write to $database\n");
        exit(1);
    }
    return $new;
}

[, $url, $command, $argument, $database] = $argv + [1 => '', 2 => '', 3 => '', 4 => ''];
if (!in_array($command, ['rebuild', 'add', 'check'], true)) {
    fwrite(STDERR, "usage: register.php URL rebuild|add NUMBER [DATABASE]|check DATABASE\n");
    exit(2);
}
$registered = new BloomFilter(n: 1_000_000, p: 0.001, storage: $url, cache: true, cacheMaxAge: 5.0);
if ($command === 'rebuild') printf("%d numbers\n", $registered->rebuild(numbers()));
elseif ($command === 'add') echo register($registered, $argument, $database) ? "new\n" : "known\n";
else check($registered, array_flip(file($argument, FILE_IGNORE_NEW_LINES)));
