--TEST--
The measured rate of false positives is at most 1.05 p for every scheme and p
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/rates.inc';
foreach (['classic', 'block', 'block2'] as $scheme)
    foreach ([0.1, 0.03, 0.01, 0.001] as $p)
        check_rate($scheme, 5000, $p, fn(int $i) => "https://www.example.org/item/$i", $scheme);
echo "done\n";
?>
--EXPECT--
done
