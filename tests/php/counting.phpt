--TEST--
CountingBloomFilter: remove, countOf, toPlain, against an exact multiset in memory and in a file, also where it grows
--INI--
bloomfilter.warn=0
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
foreach (is_extension() ? [null, "$dir/seen.bloom"] : [null] as $storage) foreach ([['scheme' => 'classic'], ['scheme' => 'block'], ['grow' => 2.0]] as $kind) {
    if ($storage && file_exists($storage)) unlink($storage);
    $f = new CountingBloomFilter(...$kind, n: 40, p: 1e-9, storage: $storage, overfull: 'ignore');
    for ($i = 0; $i < 200; $i++) $f->addMany(array_fill(0, 1 + $i % 4, "k$i"));
    for ($i = 0; $i < 200; $i += 2) same(true, $f->remove("k$i"));
    $plain = $f->toPlain();
    same([BloomFilter::class, $kind['grow'] ?? null, isset($kind['grow'])], [get_class($plain), $plain->grow, count($f->partInfo()) > 1]);
    foreach ([$f, CountingBloomFilter::fromBytes($f->toBytes()), ...$storage ? [CountingBloomFilter::open($storage)] : []] as $again) {
        same([true, $f->bitset], [$again->equals($f), $again->bitset]);
        for ($i = 0; isset($kind['grow']) && $i < 200; $i++) same([$n = 1 + $i % 4 - ($i % 2 === 0 ? 1 : 0), $n > 0, $n > 0], [$again->countOf("k$i"), $again->exists("k$i"), $plain->exists("k$i")], "k$i");
    }
    if (isset($kind['grow'])) refused('ValueError', 'filters that count and grow cannot be united', fn() => $f->union($again));
}

$f = new CountingBloomFilter(n: 1000, p: 0.001);
same([true, $f instanceof BloomFilter], [is_subclass_of('CountingBloomFilter', 'BloomFilter'), true]);
same([3, 3, true, 0, false], [$f->addMany(['a', 'b', 'b', 5]), $f->removeMany((fn() => yield from ['a', 'b', 'no', '5'])()), $f->exists('b'), $f->countOf('a'), $f->remove('a')]);
for ($i = 0; $i < 20; $i++) $f->add('full');
same(15, $f->countOf('full'));
for ($i = 0; $i < 40; $i++) same(true, $f->remove('full'));
same(15, $f->countOf('full'));
same(intdiv($f->m + 1, 2), strlen($f->bitset));

# the same keys as a plain filter
$plain = new BloomFilter(n: 1000, p: 0.001);
$plain->addMany(urls(500));
$f->clear();
$f->addMany(urls(500));
$f->addMany(urls(300));
$made = $f->toPlain();
same(['BloomFilter', true, $plain->fillRatio(), $plain->count()], [get_class($made), $made->equals($plain), $f->fillRatio(), $f->count()]);

# kinds do not mix, and each is opened as what it is, also while it is kept open
foreach ([fn() => $f->union($plain), fn() => $plain->intersect($f), fn() => $f->merge($plain), fn() => $plain->isSubsetOf($f), fn() => $f->unionCount($plain)] as $call) refused('ValueError', 'same kind', $call);
same(false, $f->equals($plain));
$f->save("$dir/c.bloom");
same('CountingBloomFilter', get_class(CountingBloomFilter::open("$dir/c.bloom")));
refused('BloomFilterException', 'asked for a plain one', fn() => BloomFilter::open("$dir/c.bloom"));
if (is_extension()) refused('ValueError', 'a counting filter cannot forget', fn() => new CountingBloomFilter(n: 10, p: 0.1, window: 2.0));
refused('BloomFilterException', 'not counters', fn() => $f->toBytes('bits'));
same(CountingBloomFilter::plan(n: 1000, p: 0.01), BloomFilter::plan(n: 1000, p: 0.01));

# multisets
$a = new CountingBloomFilter(n: 1000, p: 1e-6);
$b = new CountingBloomFilter(n: 1000, p: 1e-6);
$a->addMany(['one', 'both', 'both']);
$b->addMany(['both', 'two']);
$sum = $a->union($b);
$least = $a->intersect($b);
same([1, 3, 1, 0, 1, 0], [$sum->countOf('one'), $sum->countOf('both'), $sum->countOf('two'), $least->countOf('one'), $least->countOf('both'), $least->countOf('two')]);
same([true, true, false, 3, 1], [$a->isSubsetOf($sum), $least->isSubsetOf($b), $a->isSubsetOf($b), $a->unionCount($b), $a->intersectionCount($b)]);
$a->merge($b);
same(true, $a->equals($sum));

# copies and serialized ones
$copy = clone $a;
$other = unserialize(serialize($a));
same(['CountingBloomFilter', true, 3, true], [get_class($other), $other->equals($copy), $other->countOf('both'), $other->remove('two')]);
same(1, $a->countOf('two'));
refused('BloomFilterException', 'is a counting filter, asked for a plain one', fn() => unserialize(str_replace('O:19:"CountingBloomFilter"', 'O:11:"BloomFilter"', serialize($a))));
$a->close();
refused('BloomFilterException', 'closed', fn() => $a->remove('x'));
refused('BloomFilterException', 'closed', fn() => $a->toPlain());
--EXPECT--
