--TEST--
A Stringable object is its text
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
class Url implements Stringable { public function __construct(private string $s) {} public function __toString(): string { return $this->s; } }
class Old { public function __toString() { return 'old'; } }
$f = new BloomFilter(m: 1 << 20, k: 8);
same([true, false, true], [$f->add(new Url('a')), $f->add('a'), $f->exists(new Url('a'))]);
same([true, true], [$f->add(new Old), $f->exists('old')]);
same($f->hashcode('a'), $f->hashcode(new Url('a')));
same([true, false], $f->existMany([new Url('a'), new Url('b')]));
same(1, $f->addMany([new Url('b'), new Url('b'), 'a']));
echo "done\n";
?>
--EXPECT--
done
