--TEST--
Which bytes a key is
--FILE--
<?php require __DIR__ . '/helpers.inc';
# (tests/catalogue and tests/cross/test_identity.py have keys of every length and type.)
# An int is its decimal text, at both ends.
foreach ([0, -1, PHP_INT_MAX, PHP_INT_MIN] as $key) {
    $f = new BloomFilter(m: 1 << 20, k: 8);
    same([true, true, false, $f->hashcode("$key"), [true, true]], [$f->add($key), $f->exists("$key"), $f->add("$key"), $f->hashcode($key), $f->existMany([$key, "$key"])], "$key");
}

# A Stringable object is its text.
class Url implements Stringable { public function __construct(private string $s) {} public function __toString(): string { return $this->s; } }
class Old { public function __toString() { return 'old'; } }
$f = new BloomFilter(m: 1 << 20, k: 8);
same([true, false, true], [$f->add(new Url('a')), $f->add('a'), $f->exists(new Url('a'))]);
same([true, true], [$f->add(new Old), $f->exists('old')]);
same($f->hashcode('a'), $f->hashcode(new Url('a')));
same([true, false], $f->existMany([new Url('a'), new Url('b')]));
same(1, $f->addMany([new Url('b'), new Url('b'), 'a']));

class Bad { public function __toString(): string { throw new LogicException('no text'); } }
foreach (['add', 'exists', 'hashcode'] as $method) refused('LogicException', 'no text', fn() => $f->$method(new Bad));

# Other types are a TypeError that names them; strict_types changes nothing (eval has its own).
$f = new BloomFilter(1000, 10);
foreach ([[STDOUT, 'resource'], [fn() => 1, 'Closure'], [false, 'bool']] as [$key, $type]) {
    foreach (['add', 'exists', 'addKey', 'existKey', 'hashcode'] as $method)
        refused('TypeError', "Argument #1 (\$key) must be of type string, int or Stringable, $type given", fn() => $f->$method($key));
    foreach (['addMany', 'existMany', 'addNew'] as $method) refused('TypeError', "$type given at index 0", fn() => $f->$method([$key]));
}
refused('ArgumentCountError', '', fn() => $f->add());
if (is_extension()) refused('ArgumentCountError', '', fn() => $f->add('a', 'b'));
same(0, count($f));
same([true, true], eval('declare(strict_types=1); return [$f->add(42), $f->exists("42")];'));
refused('TypeError', 'float given', eval('declare(strict_types=1); return fn() => $f->add(4.2);'));
if (is_extension()) refused('TypeError', 'string given', eval('declare(strict_types=1); return fn() => new BloomFilter("1000", 10);'));
same(1000, eval('declare(strict_types=1); return (new BloomFilter(1e3, 10))->m;'));
--EXPECT--
