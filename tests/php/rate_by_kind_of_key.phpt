--TEST--
The measured rate of false positives is at most 1.05 p for every kind of key
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/rates.inc';
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
