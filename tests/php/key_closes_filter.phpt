--TEST--
A key whose __toString closes the filter ends in an exception
--FILE--
<?php require __DIR__ . '/helpers.inc';
class Closer { public function __construct(private BloomFilter $f) {} public function __toString(): string { $this->f->close(); return 'x'; } }
foreach (['add', 'exists', 'hashcode'] as $method) {
    $f = new BloomFilter(1000, 10);
    refused('BloomFilterException', 'closed', fn() => $f->$method(new Closer($f)));
}
foreach (['addMany', 'existMany', 'addNew'] as $method) {
    $f = new BloomFilter(1000, 10);
    refused('BloomFilterException', 'closed', fn() => $f->$method(['a', new Closer($f), 'b']));
    $f = new BloomFilter(1000, 10);
    refused('BloomFilterException', 'closed', fn() => $f->$method([...urls(500), new Closer($f)]));
}
--EXPECT--
