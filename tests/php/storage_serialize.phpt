--TEST--
A serialized filter on a file carries the path and opens it again
--INI--
bloomfilter.unserialize_storage=1
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
chdir($dir);
$f = new BloomFilter(n: 1000, p: 0.01, storage: 'a.bloom');
$text = serialize($f);
same([['storage' => "$dir/a.bloom"], true], [$f->__serialize(), strlen($text) < 300]);
chdir('/');
$g = unserialize($text);
same([true, true, 1000, true], [$f->add('later'), $g->exists('later'), $g->n, $g->add('back') && $f->exists('back')]);
same('11', in_other_php('$f = unserialize(' . var_export($text, true) . '); echo (int)$f->exists("later"), (int)$f->add("there");'));
same([true, 1], [$f->exists('there'), kept()]);

$r = unserialize(serialize(BloomFilter::open("$dir/a.bloom", readOnly: true)));
same(true, $r->exists('later'));
refused('BloomFilterException', 'read-only', fn() => $r->add('no'));

class Noted extends BloomFilter { public $note = 'none'; }
$n = Noted::open("$dir/a.bloom");
$n->note = 'mine';
$n = unserialize(serialize($n));
same(['Noted', 'mine', true], [get_class($n), $n->note, $n->exists('later')]);
unlink("$dir/a.bloom");
refused('BloomFilterException', 'No such file', fn() => unserialize($text));
refused('ValueError', 'path', fn() => unserialize(str_replace(strlen("$dir/a.bloom") . ":\"$dir/a.bloom", '0:"', $text)));
same([[], true], [names_in($dir), $f->exists('later')]);
--EXPECT--
