<?php
/* decimals.php LOCALE URL OTHER - see decimals.py, which is the same program. */
declare(strict_types=1);
[, $locale, $own, $other] = $argv;
if (!setlocale(LC_ALL, $locale)) throw new Exception("no locale $locale");
$kinds = ['plain' => [], 'grow' => ['grow' => 1.5], 'window' => ['window' => 0.5e9], 'redisson' => ['scheme' => 'redisson']];
foreach ($kinds as $kind => $more) (new BloomFilter(...$more + ['n' => 1000, 'p' => 0.0125, 'storage' => "$own$kind&timeout=60.5"]))->add('key');
foreach ([$own, $other] as $from) foreach ($kinds as $kind => $more) {
    $f = new BloomFilter(...$more + ['storage' => "$from$kind&timeout=60.5"]);
    echo "$kind ", json_encode([$f->p, $f->exists('key'), $f->info()['grow'], $f->info()['window']], JSON_PRESERVE_ZERO_FRACTION), "\n";
}
foreach ([['grow' => 0.5], ['window' => -2.5], ['p' => 1.5], ['p' => 0.5, 'storage' => "{$own}plain"]] as $given) {
    try { new BloomFilter(...$given + ['n' => 1000, 'p' => 0.0125]); }
    catch (Exception | Error $e) { echo $e->getMessage(), "\n"; }
}
