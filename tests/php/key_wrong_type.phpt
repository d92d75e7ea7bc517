--TEST--
bool, float, null, array and other objects are TypeErrors that name the type
--FILE--
<?php require __DIR__ . '/helpers.inc';
$f = new BloomFilter(1000, 10);
foreach ([[true, 'bool'], [false, 'bool'], [1.0, 'float'], [null, 'null'], [[], 'array'], [new stdClass, 'stdClass'], [STDOUT, 'resource'],
          [fn() => 1, 'Closure'], [NAN, 'float']] as [$key, $type]) {
    foreach (['add', 'exists', 'addKey', 'existKey', 'hashcode'] as $method)
        refused('TypeError', "Argument #1 (\$key) must be of type string, int or Stringable, $type given", fn() => $f->$method($key));
    foreach (['addMany', 'existMany', 'addNew'] as $method)
        refused('TypeError', "$type given at index 0", fn() => $f->$method([$key]));
}
refused('ArgumentCountError', '', fn() => $f->add());
refused('ArgumentCountError', '', fn() => $f->add('a', 'b'));
same(0, count($f));
--EXPECT--
