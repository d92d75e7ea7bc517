--TEST--
A child uses what its parent opened
--EXTENSIONS--
pcntl
--FILE--
<?php require __DIR__ . '/helpers.inc';
$path = folder() . '/a.bloom';
$f = new BloomFilter(n: 10_000, p: 1e-6, storage: $path);
$f->add('before');
$children = [];
for ($i = 0; $i < 3; $i++) {
    $children[$i] = pcntl_fork();
    if ($children[$i] !== 0) continue;
    $g = BloomFilter::open($path);                          # kept open: the parent's map
    for ($j = 0; $j < 1000; $j++) { $f->add("$i:$j"); $g->add("$i;$j"); }
    $ok = $f->exists('before') && $g->exists('before');
    $f->close();
    $ok = $ok && $g->exists("$i:0");
    pcntl_exec('/bin/sh', ['-c', $ok ? 'exit 7' : 'exit 1']);   # past the parent's shutdown functions
}
foreach ($children as $i => $pid) {
    pcntl_waitpid($pid, $status);
    same(7, pcntl_wexitstatus($status));
    same(2000, array_sum($f->existMany([...array_map(fn($j) => "$i:$j", range(0, 999)), ...array_map(fn($j) => "$i;$j", range(0, 999))])), "child $i");
}
same([true, 1], [BloomFilter::open($path)->exists('2;999'), kept()]);
--EXPECT--
