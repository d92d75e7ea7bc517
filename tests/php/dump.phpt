--TEST--
A dump shows the parameters and never the bits
--FILE--
<?php require __DIR__ . '/helpers.inc';
$f = new BloomFilter(n: 1_000_000, p: 0.01);
var_dump($f);
print_r($f);
var_export($f);
echo "\n";
same(['m', 'n', 'k', 'p', 'scheme'], array_keys((array)$f));
same(['m', 'n', 'k', 'p', 'scheme'], array_keys(get_object_vars($f)));
$names = [];
foreach ($f as $name => $value) $names[] = $name;
same(['m', 'n', 'k', 'p', 'scheme'], $names);
class Talkative extends BloomFilter { public $extra = 1; public function __debugInfo() { return ['own' => 1]; } }
var_dump(new Talkative(100, 10));
--EXPECTF--
object(BloomFilter)#1 (5) {
  ["m"]=>
  int(%d)
  ["n"]=>
  int(1000000)
  ["k"]=>
  int(%d)
  ["p"]=>
  float(0.01)
  ["scheme"]=>
  string(5) "block"
}
BloomFilter Object
(
    [m] => %d
    [n] => 1000000
    [k] => %d
    [p] => 0.01
    [scheme] => block
)
\BloomFilter::__set_state(array(
   'm' => %d,
   'n' => 1000000,
   'k' => %d,
   'p' => 0.01,
   'scheme' => 'block',
))
object(Talkative)#%d (1) {
  ["own"]=>
  int(1)
}
