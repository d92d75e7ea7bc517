--TEST--
save() keeps the rights of the file it replaces; a symbolic link is replaced and the file behind it stays
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
umask(022);
$mode = fn (string $path) => decoct(stat($path)['mode'] & 0777);
$filters = [new BloomFilter(n: 100, p: 0.01), new BloomFilter(n: 100, p: 0.01, grow: 2.0), new CountingBloomFilter(n: 100, p: 0.01)];
foreach ($filters as $f) {
    $f->save("$dir/a");
    same('644', $mode("$dir/a"), 'new');
    foreach ([0600, 0640, 0666, 0444] as $want) {
        chmod("$dir/a", $want);
        $f->save("$dir/a");
        clearstatcache();
        same(decoct($want), $mode("$dir/a"), 'replaced');
    }
    unlink("$dir/a");
}
file_put_contents("$dir/private", 'x');
chmod("$dir/private", 0600);
symlink("$dir/private", "$dir/link");
$filters[0]->save("$dir/link");
clearstatcache();
same(false, is_link("$dir/link"));
same('600', $mode("$dir/link"));
same('x', file_get_contents("$dir/private"));
same(2, count(names_in($dir)));
--EXPECT--
