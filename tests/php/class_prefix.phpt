--TEST--
bloomfilter.class_prefix: the classes beside a project's own BloomFilter; serialize, var_export and reflection have the name
--INI--
bloomfilter.class_prefix=Bloom\
--FILE--
<?php require __DIR__ . '/helpers.inc';
class BloomFilter { public string $whose = 'the project\'s'; }
class CountingBloomFilter {}
class BloomFilterException extends Exception {}
function check(bool $right, string $what): void { if (!$right) echo "wrong: $what\n"; }

check((new BloomFilter)->whose === 'the project\'s', 'the own class');
$f = new Bloom\BloomFilter(n: 100, p: 0.01);
$c = new Bloom\CountingBloomFilter(n: 100, p: 0.01);
check($f->add('a') && $c->add('a') && $c instanceof Bloom\BloomFilter, 'the classes');
check(get_class($f->union($f)) === 'Bloom\BloomFilter' && get_class(clone $c) === 'Bloom\CountingBloomFilter', 'results');
check(str_starts_with(serialize($f), 'O:17:"Bloom\BloomFilter":'), 'serialize');
check(unserialize(serialize($f))->equals($f) && get_class(unserialize(serialize($c))) === 'Bloom\CountingBloomFilter', 'unserialize');
check(str_contains(var_export($f, true), '\Bloom\BloomFilter::__set_state('), 'var_export');
check(str_contains(print_r($f, true), 'Bloom\BloomFilter Object'), 'print_r');
try { $f->close(); $f->add('x'); echo "no exception\n"; }
catch (Bloom\BloomFilterException $e) { check($e->getCode() === Bloom\BloomFilterException::CLOSED, 'the exception'); }
try { $c->union(new BloomFilter); echo "no exception\n"; }
catch (TypeError $e) { check(str_contains($e->getMessage(), 'must be of type Bloom\BloomFilter, BloomFilter given'), $e->getMessage()); }

$named = (new ReflectionExtension('bloomfilter'))->getClassNames();
sort($named);
check($named === ['Bloom\BloomFilter', 'Bloom\BloomFilterException', 'Bloom\CountingBloomFilter'], implode(' ', $named));
foreach ($named as $class)
    foreach ((new ReflectionClass($class))->getMethods() as $method)
        foreach ([$method->getReturnType(), ...array_map(fn($p) => $p->getType(), $method->getParameters())] as $type)
            check(!preg_match('/(^|[?|])(Counting)?BloomFilter/', (string)$type), "$class::{$method->name}: $type");
check((string)(new ReflectionMethod('Bloom\BloomFilter', 'union'))->getParameters()[0]->getType() === 'Bloom\BloomFilter', 'the type of an argument');

class Sub extends Bloom\BloomFilter { public function union(Bloom\BloomFilter $other): static { return parent::union($other); } }
check(get_class((new Sub(10, 2))->union(new Sub(10, 2))) === 'Sub', 'a subclass');
check(ini_set('bloomfilter.class_prefix', 'X') === false, 'fixed at the start');

foreach (['\Bloom\\', 'Bloom\\\\', '1a', 'a b\\', 'a-', '\\', str_repeat('a', 129)] as $bad) {
    $out = in_other_php('echo 1;', '-d ' . escapeshellarg("bloomfilter.class_prefix='$bad'") . ' 2>&1');
    check(str_contains((string)$out, "class_prefix must be empty or the beginning of a class name") && str_contains($out, "got \"$bad\""), "$bad: $out");
}
--EXPECT--
