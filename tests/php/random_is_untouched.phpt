--TEST--
PHP's random generators are never touched
--FILE--
<?php require __DIR__ . '/helpers.inc';
$draw = function (callable $do) {
    mt_srand(1234);
    $first = [mt_rand(), rand()];
    $do();
    return [...$first, mt_rand(), rand(), mt_rand(1, 100)];
};
$work = function () {
    $f = new BloomFilter(10_000, 1000);
    foreach (urls(100) as $url) { $f->addKey($url); $f->existKey($url); $f->hashcode($url); }
    $f->addMany(urls(500)); $f->existMany(urls(500)); $f->addNew(urls(500));
    unserialize(serialize(clone $f))->union($f)->clear();
    new BloomFilter(n: 1000, p: 0.01, secret: str_repeat('s', 16));
};
same($draw(fn() => 1), $draw($work));
--EXPECT--
