--TEST--
The measured rate of false positives is at most 1.05 p for every n
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/rates.inc';
$url = fn(int $i) => "https://www.example.org/item/$i";
foreach ([1, 2, 3, 7, 10, 64, 101, 1000, 9999, 100_000] as $n) {
    check_rate('default', $n, 0.01, $url);
    check_rate('classic', $n, 0.01, $url, 'classic');
}
foreach ([1, 2, 3, 5] as $n) check_rate('classic', $n, 0.1, $url, 'classic');
echo "done\n";
?>
--EXPECT--
done
