#!/usr/bin/env php
<?php
/* register.php - is this phone number registered?  A filter in Redis answers before cache and database.  Without it, a number that
 * does not exist misses the cache and reaches the database every time (cache penetration), and robots try many of them.
 *
 *     register.php URL rebuild < all-numbers       every night: replaces the numbers of the filter by those of the database
 *     register.php URL add 13800000000 [DATABASE]  registers a number: first in the filter, then in DATABASE
 *     register.php URL check DATABASE < numbers    prints each number and yes or no; queries DATABASE (here a file, one number
 *                                                  per line) only if the filter has the number
 *
 * With &timeout=0.1 in the URL, a request waits at most 0.1 s for a Redis that does not answer.  In the next second (retry_after)
 * requests do not wait at all.
 *
 * "No" is always right; a "yes" is looked up.  A lost filter raises an exception and never answers "no": query the database then,
 * and rebuild.
 *
 * A number is added to the filter before the database.  A crash between the two leaves one more false positive.  In the other
 * order, the database could have a number that the filter does not have.  For the same reason, add the numbers that registered
 * during a rebuild again afterwards. */
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
