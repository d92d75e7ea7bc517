--TEST--
An argument, a client or an error handler that constructs the object that is being constructed: once, and an Error
--FILE--
<?php require __DIR__ . '/helpers.inc';
class Name { function __construct(private BloomFilter $f) {} function __toString(): string { $this->f->__construct(100, 10); $this->f->add('a'); return 'classic'; } }
class Path { function __construct(private BloomFilter $f, private string $path) {} function __toString(): string { $this->f->__construct(100, 10); $this->f->add('a'); return $this->path; } }
$dir = folder();
$empty = fn() => (new ReflectionClass('BloomFilter'))->newInstanceWithoutConstructor();
foreach (['scheme' => fn($f) => $f->__construct(m: 1000, k: 3, scheme: new Name($f)), 'path' => fn($f) => $f->__construct(m: 1000, k: 3, storage: new Path($f, "$dir/x"))] as $call) {
    $f = $empty();
    refused('Error', 'already constructed', fn() => $call($f));
    same([100, true, true], [$f->m, $f->exists('a'), $f->add('b')]);
}
set_error_handler(fn() => $GLOBALS['f']->__construct(100, 10));         // parts: a float that loses its fraction is deprecated
$f = $empty();
refused('Error', 'already constructed', fn() => $f->__construct(n: 1000, p: 0.01, window: 60.0, parts: 2.5));
restore_error_handler();
same([100, true], [$f->m, $f->add('b')]);
--EXPECT--
