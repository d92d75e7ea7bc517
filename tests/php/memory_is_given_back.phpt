--TEST--
Filters leave no memory behind
--FILE--
<?php require __DIR__ . '/helpers.inc';
class Bad { public function __toString(): string { throw new LogicException; } }
$round = function () {
    $f = new BloomFilter(n: 1000, p: 0.01);
    $keys = [...urls(300), 42, 'text' => 'x'];
    $f->addMany($keys); $f->existMany($keys); $f->addNew($keys); $f->hashcode('a'); $f->bitset; (clone $f)->union($f);
    $f->addMany((function () { for ($i = 0; $i < 300; $i++) yield "generated $i"; })());
    unserialize(serialize($f));
    foreach ([fn() => $f->addMany([...$keys, null]), fn() => $f->addMany([...$keys, new Bad]), fn() => $f->addNew([...$keys, null]), fn() => new BloomFilter(0, 0),
              fn() => BloomFilter::fromBytes('x'), fn() => $f->add(null), fn() => $f->add(new Bad), fn() => $f->addMany((fn() => yield null)()),
              fn() => unserialize('O:11:"BloomFilter":0:{}')] as $call)
        try { $call(); } catch (Throwable) {}
    $f->close();
};
for ($i = 0; $i < 3; $i++) $round();
$before = memory_get_usage();
for ($i = 0; $i < 50; $i++) $round();
$after = memory_get_usage();             # before same() gets its run-time cache
same(0, $after - $before);
--EXPECT--
