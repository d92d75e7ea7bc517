--TEST--
The measured rate of false positives is at most 1.05 p for every scheme, number and kind of keys (SHOW_RATES=1 prints all)
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
/* Small filters differ from each other, so many of them are averaged; probes enough that 1.05 is three standard deviations of a
 * rate of exactly p.  The keys are the same in every run, and so is the answer. */
function measured(int $n, float $p, callable $key, ?string $scheme = null): float
{
    $filters = max(1, intdiv(20_000, $n));
    $probes = (int)ceil(max(4000 / $p, 400_000) / $filters);
    $next = 0;
    for ($hits = $done = 0, $i = 0; $i < $filters; $i++) {
        $f = new BloomFilter(n: $n, p: $p, scheme: $scheme);
        $f->addMany((function () use (&$next, $n, $key) { for ($j = 0; $j < $n; $j++) yield $key($next++); })());
        for ($left = $probes; $left > 0; $left -= 10_000) {
            $keys = [];
            for ($j = min($left, 10_000); $j > 0; $j--) $keys[] = $key($next++);
            $hits += array_sum($f->existMany($keys));
            $done += count($keys);
        }
    }
    return $hits / $done;
}
function check_rate(string $what, int $n, float $p, callable $key, ?string $scheme = null): void
{
    $rate = measured($n, $p, $key, $scheme);
    if ($rate > 1.05 * $p) printf("%s n=%d p=%g: measured %.5g, %.3f of p\n", $what, $n, $p, $rate, $rate / $p);
    elseif (getenv('SHOW_RATES')) printf("%s n=%d p=%g: %.3f of p\n", $what, $n, $p, $rate / $p);
}

foreach (['classic', 'block', 'block2'] as $scheme)
    foreach ([0.1, 0.03, 0.01, 0.001] as $p)
        check_rate($scheme, 5000, $p, fn(int $i) => "https://www.example.org/item/$i", $scheme);

$url = fn(int $i) => "https://www.example.org/item/$i";
foreach ([1, 2, 3, 7, 10, 64, 101, 1000, 9999, 100_000] as $n) {
    check_rate('default', $n, 0.01, $url);
    check_rate('classic', $n, 0.01, $url, 'classic');
}
foreach ([1, 2, 3, 5] as $n) check_rate('classic', $n, 0.1, $url, 'classic');

$kinds = [
    'numbers' => fn(int $i) => (string)($i + 1),
    'ints' => fn(int $i) => $i + 1,
    'prefix' => fn(int $i) => str_repeat('the same long prefix of every key/', 4) . $i,
    'suffix' => fn(int $i) => $i . str_repeat('/the same long suffix of every key', 4),
    'random bytes' => fn(int $i) => md5("$i", true),
    'lengths' => fn(int $i) => str_repeat('x', $i % 50) . $i,
    'words of 8' => fn(int $i) => pack('P', $i),
];
foreach ($kinds as $kind => $key) foreach ([11, 20_001] as $n) check_rate($kind, $n, 0.01, $key);
echo "done\n";
?>
--EXPECT--
done
