--TEST--
A key whose __toString uses the filter itself is no trouble
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
class Nested { public function __construct(private BloomFilter $f, private int $i) {} public function __toString(): string { $this->f->addMany(["inner$this->i"]); return "outer$this->i"; } }
$f = new BloomFilter(n: 2000, p: 1e-6);
$keys = [];
for ($i = 0; $i < 300; $i++) $keys[] = new Nested($f, $i);
same(300, $f->addMany($keys));
for ($i = 0; $i < 300; $i++) same([true, true], [$f->exists("inner$i"), $f->exists("outer$i")]);
echo "done\n";
?>
--EXPECT--
done
