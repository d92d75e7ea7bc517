<?php
/* vectors.php - tests/vectors by the polyfill's schemes.  Prints what is wrong, then how many positions were right, by scheme. */
require __DIR__ . '/../php/helpers.inc';
require __DIR__ . '/../php/vectors.inc';
ini_set('memory_limit', '-1');
const HERE = ['classic', 'block', 'block2', 'php-mt', 'php-mt-legacy', 'gozero', 'php-hashes'];
$right = array_fill_keys(HERE, 0);
$filters = [];
function filter(array &$kept, string $scheme, int $m, int $k, ?string $secret = null): BloomFilter
{
    return $kept["$scheme $m $k $secret"] ??= new BloomFilter(m: $m, k: $k, scheme: $scheme, secret: $secret);
}

foreach (file(__DIR__ . '/../vectors/native.jsonl') as $line) {
    $v = json_decode($line, true);
    if (!isset($v['scheme'])) continue;
    $f = filter($filters, $v['scheme'], $v['m'], $v['k'], $v['secret'] === '' ? null : hex2bin($v['secret']));
    same($v['positions'], $f->hashcode(hex2bin($v['key'])), $line);
    $right[$v['scheme']]++;
    if (count($filters) > 20) $filters = [];
}

$keys = vector_keys();
$f = null;
foreach (vector_lines('positions.txt') as $line) {
    if ($line[0] === '=') {
        [, $scheme, $m, $k] = $line;
        $row = strtok($scheme, ':');
        $f = in_array($row, HERE, true) ? filter($filters, $scheme, (int) $m, (int) $k) : null;
        $filters = [];
    } elseif ($f) {
        $key = $line[0][0] === "'" ? substr(implode(' ', $line), 1) : $keys[$line[0]];
        if ($line[0][0] === "'") $key = substr($line[0], 1);
        same(array_map(intval(...), array_slice($line, 1, $f->k)), $f->hashcode($key), "$scheme $line[0]");
        $right[$row]++;
    }
}
echo json_encode($right), "\n";
