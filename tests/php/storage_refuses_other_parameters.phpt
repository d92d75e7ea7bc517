--TEST--
Another parameter than the file's is an exception that names both, kept open or not, and the file stays as it is
--FILE--
<?php require __DIR__ . '/helpers.inc';
$path = folder() . '/a.bloom';
$f = new BloomFilter(n: 1000, p: 0.01, storage: $path);
$f->addMany(urls(500));
$state = function () use ($path) { clearstatcache(); return [sha1_file($path), filemtime($path), fileinode($path), names_in(dirname($path))]; };
$before = $state();
$like = ['n' => 1000, 'p' => 0.01];
$cases = ['n=1000, asked for n=2000' => ['n' => 2000] + $like, 'scheme block, asked for scheme classic' => ['scheme' => 'classic'] + $like, 'window=60' => ['window' => 60.0]];
foreach ($cases as $part => $arguments) {
    $said = null;
    try { new BloomFilter(...$arguments, storage: $path); } catch (BloomFilterException $e) { $said = [$e->getCode(), $e->getMessage()]; }
    same([BloomFilterException::MISMATCH, true], [$said[0] ?? null, str_contains($said[1] ?? '', $part)], $part);
    $cold = 'try { new BloomFilter(...' . var_export($arguments, true) . ', storage: ' . var_export($path, true) . '); } catch (Exception $e) { echo $e->getMessage(); }';
    same($said[1] ?? null, in_other_php($cold));
}
foreach ([fn() => BloomFilter::open($path, key: 'x'), fn() => new BloomFilter(key: 'x', storage: $path)] as $call) refused('ValueError', 'key=x', $call);
same([true, $before, 500], [(new BloomFilter(n: 1000, p: 0.01, shards: 1, storage: $path))->equals($f), $state(), array_sum($f->existMany(urls(500)))]);
--EXPECT--
