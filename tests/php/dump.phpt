--TEST--
A dump, a cast and a loop show the parameters and never the bits
--FILE--
<?php require __DIR__ . '/helpers.inc';
$f = new BloomFilter(n: 1_000_000, p: 0.01);
$shows = ['m' => $f->m, 'n' => 1000000, 'k' => $f->k, 'p' => 0.01, 'scheme' => 'block'];
function printed(callable $print, object $what): string { ob_start(); $print($what); return preg_replace(['/#\d+/', '/\s+/'], ['', ' '], ob_get_clean()); }
same("object(BloomFilter) (5) { [\"m\"]=> int($f->m) [\"n\"]=> int(1000000) [\"k\"]=> int($f->k) [\"p\"]=> float(0.01) [\"scheme\"]=> string(5) \"block\" } ", printed(var_dump(...), $f));
same("BloomFilter Object ( [m] => $f->m [n] => 1000000 [k] => $f->k [p] => 0.01 [scheme] => block ) ", printed(print_r(...), $f));
same("\\BloomFilter::__set_state(array( 'm' => $f->m, 'n' => 1000000, 'k' => $f->k, 'p' => 0.01, 'scheme' => 'block', ))", printed(var_export(...), $f));
same([$shows, $shows], [(array)$f, get_object_vars($f)]);
foreach ($f as $name => $value) $looped[$name] = $value;
same($shows, $looped);
class Talkative extends BloomFilter { public $extra = 1; public function __debugInfo() { return ['own' => 1]; } }
same('object(Talkative) (1) { ["own"]=> int(1) } ', printed(var_dump(...), new Talkative(100, 10)));
--EXPECT--
