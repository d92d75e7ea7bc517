--TEST--
Another parameter than the file's is an exception that names both, and the file stays as it is
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
$path = "$dir/a.bloom";
$f = new BloomFilter(n: 1000, p: 0.01, storage: $path);
$f->addMany(urls(500));
$before = [sha1_file($path), filemtime($path), fileinode($path)];
$m = $f->m;
$cases = [
    ['n=1000, asked for n=2000', ['n' => 2000, 'p' => 0.01]], ['p=0.01, asked for p=0.001', ['n' => 1000, 'p' => 0.001]],
    ['scheme block, asked for scheme classic', ['n' => 1000, 'p' => 0.01, 'scheme' => 'classic']], ["m=$m, asked for m=5120", ['m' => 5120, 'n' => 1000, 'scheme' => 'block']],
    ["k=$f->k, asked for k=3", ['n' => 1000, 'p' => 0.01, 'k' => 3]], ['scheme block, asked for scheme classic', ['m' => $m, 'n' => 1000]],
];
foreach ($cases as [$part, $arguments]) {
    refused('BloomFilterException', $part, fn() => new BloomFilter(...$arguments, storage: $path));
    try { new BloomFilter(...$arguments, storage: $path); } catch (BloomFilterException $e) { same(BloomFilterException::MISMATCH, $e->getCode()); }
    # the same words where the file is not open yet
    $cold = 'try { new BloomFilter(...' . var_export($arguments, true) . ', storage: ' . var_export($path, true) . '); } catch (Exception $e) { echo $e->getMessage(); }';
    same("$path has $part", in_other_php($cold));
}
foreach (['k' => 3, 'n' => 999, 'p' => 0.5, 'm' => 1] as $name => $value)
    refused('BloomFilterException', "asked for $name=", fn() => new BloomFilter(...[$name => $value], storage: $path));
refused('ValueError', 'scheme must be classic', fn() => new BloomFilter(n: 10, p: 0.1, scheme: 'none', storage: "$dir/none"));
clearstatcache();
same([$before, ['a.bloom'], 500], [[sha1_file($path), filemtime($path), fileinode($path)], names_in($dir), array_sum($f->existMany(urls(500)))]);
--EXPECT--
