<?php
/* polyfill.php - a call with the polyfill and with the extension, beside an empty method in the same run.
 *
 *   php -n -d memory_limit=-1 bench/php/polyfill.php                                   the polyfill
 *   php -n -d memory_limit=-1 -d extension=$PWD/out/php/bloomfilter.so bench/php/polyfill.php   the extension
 *
 * Each figure is the least of 250 rounds of 2,000 keys: the machine may be busy.  n = 1,000,000, p = 0.01 unless a line says otherwise; an "exists" asks
 * for keys of which half are present.  Add: keys that are new, into a filter that fills up to half of n. */
require __DIR__ . '/../../php-polyfill/autoload.php';

const ROUND = 2_000;
const ROUNDS = 250;
class Nothing { public function call($key): bool { return true; } }

/** Microseconds per key of the fastest round. */
function least(Closure $round): float
{
    for ($best = INF, $i = 0; $i < ROUNDS; $i++) {
        $start = hrtime(true);
        $round($i);
        $best = min($best, hrtime(true) - $start);
    }
    return $best / 1000 / ROUND;
}

$keys = [];
for ($i = 0; $i < ROUND * ROUNDS; $i++) $keys[] = "https://www.example.org/item?id=$i";
$slices = array_chunk($keys, ROUND);
$ask = array_map(fn($i) => $i % 2 ? $keys[$i] : "absent $i", range(0, ROUND - 1));

$nothing = new Nothing;
$empty = least(function () use ($nothing, $ask) { foreach ($ask as $key) $nothing->call($key); });
printf("%s, PHP %s\n%-34s %8.3f us   ratio\n", extension_loaded('bloomfilter') ? 'extension' : 'polyfill', PHP_VERSION, 'an empty method', $empty);
function line(string $what, float $us): void { global $empty; printf("%-34s %8.3f us %7.1f\n", $what, $us, $us / $empty); }

foreach (['block' => ['p' => 0.01], 'block2' => ['p' => 1e-4], 'classic' => ['p' => 0.01, 'scheme' => 'classic'], 'counting' => ['p' => 0.01]] as $name => $how) {
    $class = $name === 'counting' ? 'CountingBloomFilter' : 'BloomFilter';
    unset($f);
    $before = memory_get_usage();
    $f = new $class(...$how + ['n' => 1_000_000]);
    line("$name: add", least(function ($i) use ($f, $slices) { foreach ($slices[$i] as $key) $f->add($key); }));
    line("$name: exists", least(function () use ($f, $ask) { foreach ($ask as $key) $f->exists($key); }));
    line("$name: existMany", least(function () use ($f, $ask) { $f->existMany($ask); }));
    if (!extension_loaded('bloomfilter')) printf("%-34s %8.1f MB, bits %.1f MB\n", "$name: memory", (memory_get_usage() - $before) / 1e6, strlen($f->bitset) / 1e6);
}
$start = hrtime(true);
$f = new BloomFilter(n: 123_456, p: 0.003);
line('constructor, a new n and p', (hrtime(true) - $start) / 1000);
