--TEST--
Which bytes a key is
--FILE--
<?php require __DIR__ . '/helpers.inc';
# Keys are bytes: nothing is decoded or normalized.
$f = new BloomFilter(m: 1 << 20, k: 8);
foreach (["\xff\xfe", "caf\u{e9}", "cafe\u{301}", "\xed\xa0\x80", 'A', 'a ', ' a'] as $key) same([true, true], [$f->add($key), $f->exists($key)]);
same(false, $f->exists('a'));

# The empty key is a key, and NUL bytes belong to a key.
$f = new BloomFilter(m: 1 << 20, k: 8);
same([false, true, true], [$f->exists(''), $f->add(''), $f->exists('')]);
foreach (["\0", "\0\0", "a\0", "a\0b", "a"] as $key) same([false, true, true], [$f->exists($key), $f->add($key), $f->exists($key)]);
same([true, true, true, false], $f->existMany(['', "\0\0", "a\0b", "a\0c"]));

# An int is its decimal text: 42 and "42" are one key.
foreach ([0, 42, -1, 7000000000, PHP_INT_MAX, PHP_INT_MIN] as $key) {
    $f = new BloomFilter(m: 1 << 20, k: 8);
    $f->add($key);
    same([true, true, false], [$f->exists((string)$key), $f->exists($key), $f->add((string)$key)], "$key");
    same($f->hashcode("$key"), $f->hashcode($key));
    same([true, true], $f->existMany([$key, "$key"]));
}
same(false, $f->exists(' -9223372036854775808'));

# A key of 16 MiB is a key.
$f = new BloomFilter(m: 1 << 20, k: 8);
$long = str_repeat('0123456789abcdef', 1 << 20);
same([true, false, true], [$f->add($long), $f->add($long), $f->exists($long)]);
$long[9_999_999] = 'x';
same([false, [false]], [$f->exists($long), $f->existMany([$long])]);

# Single and batch calls agree for keys of 0 to 600 bytes.
foreach (['classic', 'block', 'block2'] as $scheme) {
    $one = new BloomFilter(n: 601, p: 0.001, scheme: $scheme);
    $many = new BloomFilter(n: 601, p: 0.001, scheme: $scheme);
    $keys = [];
    for ($i = 0; $i <= 600; $i++) $keys[] = substr(str_repeat("bytes \0\xff $i ", 100), 0, $i);
    $new = 0;
    foreach ($keys as $key) $new += $one->add($key);
    same($new, $many->addMany($keys), $scheme);
    same(true, $one->bitset === $many->bitset, "$scheme: the same bits");
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

# An exception of __toString goes through.
class Bad { public function __toString(): string { throw new LogicException('no text'); } }
$f = new BloomFilter(1000, 10);
foreach (['add', 'exists', 'hashcode'] as $method) refused('LogicException', 'no text', fn() => $f->$method(new Bad));
refused('LogicException', 'no text', fn() => $f->addMany(['a', 'b', new Bad, 'c']));
same([true, true, false], [$f->exists('a'), $f->exists('b'), $f->exists('c')]);
refused('LogicException', 'no text', fn() => $f->existMany(['a', new Bad]));
refused('LogicException', 'no text', fn() => $f->addNew(['d', new Bad]));
same(true, $f->exists('d'));

# Other types are a TypeError that names them; strict_types changes nothing (eval has its own).
$f = new BloomFilter(1000, 10);
foreach ([[true, 'bool'], [false, 'bool'], [1.0, 'float'], [null, 'null'], [[], 'array'], [new stdClass, 'stdClass'], [STDOUT, 'resource'],
          [fn() => 1, 'Closure'], [NAN, 'float']] as [$key, $type]) {
    foreach (['add', 'exists', 'addKey', 'existKey', 'hashcode'] as $method)
        refused('TypeError', "Argument #1 (\$key) must be of type string, int or Stringable, $type given", fn() => $f->$method($key));
    foreach (['addMany', 'existMany', 'addNew'] as $method)
        refused('TypeError', "$type given at index 0", fn() => $f->$method([$key]));
}
refused('ArgumentCountError', '', fn() => $f->add());
if (is_extension()) refused('ArgumentCountError', '', fn() => $f->add('a', 'b'));
same(0, count($f));
same([true, true], eval('declare(strict_types=1); return [$f->add(42), $f->exists("42")];'));
refused('TypeError', 'float given', eval('declare(strict_types=1); return fn() => $f->add(4.2);'));
if (is_extension()) refused('TypeError', 'string given', eval('declare(strict_types=1); return fn() => new BloomFilter("1000", 10);'));
same(1000, eval('declare(strict_types=1); return (new BloomFilter(1e3, 10))->m;'));
--EXPECT--
