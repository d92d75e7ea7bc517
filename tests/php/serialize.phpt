--TEST--
serialize and unserialize keep parameters, keys and the properties of a subclass; data that is no filter is an exception
--FILE--
<?php require __DIR__ . '/helpers.inc';
$f = new BloomFilter(n: 1000, p: 0.001);
$f->addMany(urls(1000));
$g = unserialize(serialize($f));
same([true, $f->m, $f->n, $f->k, $f->p, $f->scheme], [$f->equals($g), $g->m, $g->n, $g->k, $g->p, $g->scheme]);
same([true, false, true], [$g->add('more'), $f->exists('more'), unserialize(serialize($g))->exists('more')]);
$two = unserialize(serialize([$f, 'again' => $f]));
same([true, ['bytes']], [$two[0] === $two['again'], array_keys($f->__serialize())]);

class Labelled extends BloomFilter
{
    public int $own = 1;
    private int $hidden = 2;
    protected ?Labelled $next = null;
    public function set(int $own, int $hidden, ?Labelled $next): static { [$this->own, $this->hidden, $this->next] = [$own, $hidden, $next]; return $this; }
    public function get(): array { return [$this->own, $this->hidden, $this->next?->own]; }
}
$f = (new Labelled(1000, 10))->set(5, 6, (new Labelled(1000, 10))->set(7, 8, null));
$f->add('x');
$g = unserialize(serialize($f));
same(['Labelled', [5, 6, 7], true], [get_class($g), $g->get(), $g->exists('x')]);

$s = serialize(new BloomFilter(1000, 10));
foreach (['O:11:"BloomFilter":0:{}', 'O:11:"BloomFilter":1:{s:5:"bytes";s:3:"abc";}', 'O:11:"BloomFilter":1:{s:5:"bytes";i:5;}',
          'O:11:"BloomFilter":1:{s:7:"storage";i:5;}', 'O:11:"BloomFilter":1:{s:7:"storage";s:0:"";}', "O:11:\"BloomFilter\":1:{s:7:\"storage\";s:5:\"/a\0bc\";}",
          'O:11:"BloomFilter":1:{s:1:"m";i:5;}', 'O:11:"BloomFilter":1:{s:7:"storage";s:16:"/nowhere/x.bloom";}', str_replace("\x8BBLM", "\x8BBLN", $s)] as $bad)
    try { unserialize($bad); echo "accepted $bad\n"; }
    catch (BloomFilterException | ValueError $e) {}
$t = serialize(new Labelled(1000, 10));
$with = fn($s, $members) => unserialize(preg_replace('/s:7:"members".*$/s', "s:7:\"members\";$members}", str_contains($s, 'members') ? $s
    : str_replace('":1:{', '":2:{', substr($s, 0, -1)) . 's:7:"members"'));
refused('Error', 'readonly property BloomFilter::$m', fn() => $with($s, 'a:1:{s:1:"m";i:5;}'));
refused('Error', 'readonly property BloomFilter::$bitset', fn() => $with($s, 'a:1:{s:6:"bitset";s:1:"x";}'));
refused('Error', 'dynamic property', fn() => $with($s, 'a:1:{s:3:"new";s:1:"x";}'));
refused('Error', 'readonly property Labelled::$bitset', fn() => $with($t, 'a:1:{s:6:"bitset";s:1:"x";}'));
refused('TypeError', 'Labelled::$own of type int', fn() => $with($t, 'a:1:{s:3:"own";s:1:"x";}'));
refused('TypeError', 'Labelled::$hidden of type int', fn() => $with($t, "a:1:{s:16:\"\0Labelled\0hidden\";s:1:\"x\";}"));
same([7, 8, null], $with($t, "a:2:{s:3:\"own\";i:7;s:16:\"\0Labelled\0hidden\";i:8;}")->get());
same(1000, $with($t, "a:2:{i:5;i:5;s:13:\"\0Other\0hidden\";i:8;}")->m);
refused('Error', 'already constructed', function () { $f = new BloomFilter(100, 10); $f->__unserialize($f->__serialize()); });
--EXPECT--
