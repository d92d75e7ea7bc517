--TEST--
Serialized data that is no filter is an exception
--FILE--
<?php require __DIR__ . '/helpers.inc';
$s = serialize(new BloomFilter(1000, 10));
foreach (['O:11:"BloomFilter":0:{}', 'O:11:"BloomFilter":1:{s:5:"bytes";s:3:"abc";}', 'O:11:"BloomFilter":1:{s:5:"bytes";i:5;}',
          'O:11:"BloomFilter":1:{s:7:"storage";i:5;}', 'O:11:"BloomFilter":1:{s:7:"storage";s:0:"";}', "O:11:\"BloomFilter\":1:{s:7:\"storage\";s:5:\"/a\0bc\";}",
          'O:11:"BloomFilter":1:{s:1:"m";i:5;}', 'O:11:"BloomFilter":1:{s:7:"storage";s:16:"/nowhere/x.bloom";}', str_replace("\x8BBLM", "\x8BBLN", $s)] as $bad)
    try { unserialize($bad); echo "accepted $bad\n"; }
    catch (BloomFilterException | ValueError $e) {}
class Typed extends BloomFilter { public int $own = 1; private int $hidden = 2; public function hidden() { return $this->hidden; } }
$t = serialize(new Typed(1000, 10));
$with = fn($s, $members) => unserialize(preg_replace('/s:7:"members".*$/s', "s:7:\"members\";$members}", str_contains($s, 'members') ? $s
    : str_replace('":1:{', '":2:{', substr($s, 0, -1)) . 's:7:"members"'));
refused('Error', 'readonly property BloomFilter::$m', fn() => $with($s, 'a:1:{s:1:"m";i:5;}'));
refused('Error', 'readonly property BloomFilter::$bitset', fn() => $with($s, 'a:1:{s:6:"bitset";s:1:"x";}'));
refused('Error', 'dynamic property', fn() => $with($s, 'a:1:{s:3:"new";s:1:"x";}'));
refused('Error', 'readonly property Typed::$bitset', fn() => $with($t, 'a:1:{s:6:"bitset";s:1:"x";}'));
refused('TypeError', 'Typed::$own of type int', fn() => $with($t, 'a:1:{s:3:"own";s:1:"x";}'));
refused('TypeError', 'Typed::$hidden of type int', fn() => $with($t, "a:1:{s:13:\"\0Typed\0hidden\";s:1:\"x\";}"));
same([7, 8], [($u = $with($t, "a:2:{s:3:\"own\";i:7;s:13:\"\0Typed\0hidden\";i:8;}"))->own, $u->hidden()]);
same(1000, $with($t, "a:2:{i:5;i:5;s:13:\"\0Other\0hidden\";i:8;}")->m);
refused('Error', 'already constructed', function () { $f = new BloomFilter(100, 10); $f->__unserialize($f->__serialize()); });
$f = unserialize($s);
same(1000, $f->m);
--EXPECT--
