--TEST--
A creation that fails leaves nothing behind
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
$make = fn($name) => 'try { new BloomFilter(n: 1_000_000, p: 0.01, storage: ' . var_export("$dir/$name", true) . '); echo "made"; } catch (BloomFilterException $e) { echo $e->getMessage(); }';
$limited = 'trap "" XFSZ; ulimit -f 100;';                 # no file above 100 blocks
$text = in_other_php($make('big'), '', $limited);
same([true, true, []], [str_contains($text, "$dir/big"), str_contains($text, 'File too large'), names_in($dir)], $text);
same(['made', ['big']], [in_other_php($make('big')), names_in($dir)]);
$save = '$f = new BloomFilter(n: 1_000_000, p: 0.01); try { $f->save(' . var_export("$dir/big", true) . '); } catch (BloomFilterException $e) { echo $e->getMessage(); }';
$before = sha1_file("$dir/big");
$text = in_other_php($save, '', $limited);
same([true, ['big'], $before], [str_contains($text, "$dir/big"), names_in($dir), sha1_file("$dir/big")], $text);
refused('ValueError', 'm must be', fn() => new BloomFilter(n: PHP_INT_MAX, p: 0.01, storage: "$dir/a"));
refused('ValueError', '16 bytes', fn() => new BloomFilter(n: 10, p: 0.01, secret: 'x', storage: "$dir/a"));
refused('ValueError', 'k must be', fn() => new BloomFilter(m: 100, k: 5000, storage: "$dir/a"));
same(['big'], names_in($dir));
--EXPECT--
