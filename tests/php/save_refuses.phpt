--TEST--
A path that cannot be written is an exception that names it, and leaves nothing behind
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$dir = folder();
$f = new BloomFilter(1000, 10);
refused('BloomFilterException', '/nowhere/at/all', fn() => $f->save('/nowhere/at/all'));
refused('BloomFilterException', $dir, fn() => $f->save($dir));
refused('ValueError', 'path', fn() => $f->save(''));
refused('ValueError', 'null bytes', fn() => $f->save("$dir/a\0b"));
refused('TypeError', '$path', fn() => $f->save([]));
try { $f->save('/nowhere/at/all'); } catch (BloomFilterException $e) { same(BloomFilterException::IO, $e->getCode()); }
same([], array_values(array_diff(scandir($dir), ['.', '..'])));
echo "done\n";
?>
--EXPECT--
done
