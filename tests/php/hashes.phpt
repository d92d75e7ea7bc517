--TEST--
hashes: hash functions of PHP's, in memory, bytes and files; others are refused; what fails in the middle
--FILE--
<?php require __DIR__ . '/helpers.inc';
class Own
{
    private function low(string $key): int { return crc32($key); }
    public static function high(string $key): int { return hexdec(substr(md5($key), 0, 12)); }
    public function filter(): BloomFilter { return new BloomFilter(1009, 50, hashes: [[$this, 'low'], [self::class, 'high']]); }
    public function __call(string $name, array $arguments): int { return strlen($name) + strlen($arguments[0]); }
}
$crc = fn(string $key): int => crc32($key);
$two = ['crc32', fn($key) => hexdec(substr(md5($key), 0, 12))];
$f = new BloomFilter(100_003, 1000, hashes: $two);
same(['functions', 2], [$f->scheme, $f->k]);
same([crc32('key') % 100_003, hexdec(substr(md5('key'), 0, 12)) % 100_003], $f->hashcode('key'));
same([true, false, true, false], [$f->add('key'), $f->add('key'), $f->exists('key'), $f->exists('other')]);
same(100, $f->addMany(urls(100)));
same(100, array_sum($f->existMany(urls(100))));
same(2, BloomFilter::plan(m: 1000, n: 10, hashes: $two)['k']);
same([true, false], [(new Own)->filter()->add('private'), (clone (new Own)->filter())->exists('x')]);
same([3 + 3], (new BloomFilter(97, 5, hashes: [[new Own, 'abc']]))->hashcode('key'));
same(true, (new BloomFilter(97, 5, hashes: ['named' => $crc]))->add('key'));

$dir = folder();
$f->save("$dir/f");
foreach ([BloomFilter::fromBytes($f->toBytes(), hashes: $two), BloomFilter::load("$dir/f", hashes: $two), BloomFilter::open("$dir/f", hashes: $two),
          clone $f, $f->union($f), new BloomFilter(100_003, 1000, storage: "$dir/f", hashes: $two)] as $g)
    same([true, true, true], [$g->equals($f), $g->exists('key'), $g->exists(urls(1)[0])]);
foreach ([[$crc], array_reverse($two), [$crc, fn($key) => 5]] as $other) {
    refused('BloomFilterException', '', fn() => BloomFilter::fromBytes($f->toBytes(), hashes: $other));
    refused('BloomFilterException', '', fn() => BloomFilter::open("$dir/f", hashes: $other));
}
refused('ValueError', 'needs the hash functions it was created with', fn() => BloomFilter::fromBytes($f->toBytes()));
refused('ValueError', 'needs the hash functions it was created with', fn() => BloomFilter::open("$dir/f"));
refused('BloomFilterException', 'cannot be serialized: use toBytes()', fn() => serialize($f));
$counting = new CountingBloomFilter(1009, 50, hashes: $two);
$counting->addMany(['a', 'a']);
same([2, true, 1], [$counting->countOf('a'), $counting->remove('a'), $counting->countOf('a')]);

foreach ([
    ['ValueError', 'hash functions must be 1 to 16, got 0', []],
    ['ValueError', 'hash functions must be 1 to 16, got 17', array_fill(0, 17, $crc)],
    ['TypeError', 'hashes[1] must be callable, int given', [$crc, 5]],
    ['TypeError', 'hashes[0] must be callable, string given', ['no_such_function']],
    ['TypeError', 'hashes[0] must return an int, string returned', [fn($key) => '1']],
    ['TypeError', 'hashes[1] must return an int, float returned', [$crc, fn($key) => 1.5]],
    ['TypeError', 'hashes[0] must return an int, null returned', [function ($key) {}]],
    ['ValueError', 'hashes[0] must return 0 to 9223372036854775807, got -7', [fn($key) => -7]],
    ['LogicException', 'mine', [fn($key) => throw new LogicException('mine')]],
] as [$class, $part, $hashes])
    refused($class, $part, fn() => new BloomFilter(1000, 10, hashes: $hashes));
refused('ValueError', '', fn() => new BloomFilter(1000, 10, scheme: 'classic', hashes: $two));
refused('ValueError', '', fn() => new BloomFilter(1000, 10, secret: str_repeat('s', 16), hashes: $two));
refused('ValueError', 'window and clock must not be given', fn() => new BloomFilter(n: 10, p: 0.1, window: 5.0, clock: fn() => 1.0, hashes: $two));

// the keys before the one that fails are added, those after it are not
foreach ([0, 1, 63, 64, 65, 300] as $at) {
    $keys = urls(400);
    $keys[$at] = 'bad';
    $g = new BloomFilter(1_000_003, 1000, hashes: [fn($key) => $key === 'bad' ? throw new LogicException('bad key') : hexdec(substr(md5($key), 0, 12))]);
    refused('LogicException', 'bad key', fn() => $g->addMany($keys));
    refused('LogicException', 'bad key', fn() => $g->exists('bad'));
    refused('LogicException', 'bad key', fn() => $g->hashcode('bad'));
    same($at, array_sum($g->existMany(array_merge(array_slice($keys, 0, $at), array_slice($keys, $at + 1)))));
}

// what is made from a filter has its functions, too, when that is gone
$counting = new CountingBloomFilter(m: 10000, hashes: [fn($key) => crc32("salt $key"), fn($key) => crc32("$key salt") * 31]);
$counting->addMany(range(1, 100));
$plain = $counting->toPlain();
unset($counting);
$junk = array_map(fn($i) => [fn() => $i], range(1, 1000));
same(100, array_sum($plain->existMany(range(1, 100))), 'plain');
$closes = function () use ($plain) { for ($i = 0; $i < 5000; $i++) { if ($i === 700) $plain->close(); yield $i; } };
refused('BloomFilterException', 'closed', fn() => $plain->rebuild($closes()));

// a circle through a function is collected
$gone = 0;
class Circle
{
    public ?BloomFilter $filter = null;
    public function __invoke(string $key): int { return crc32($key); }
    public function __destruct() { $GLOBALS['gone']++; }
}
$circle = new Circle;
$circle->filter = new BloomFilter(1009, 10, hashes: [$circle]);
unset($circle);
gc_collect_cycles();
same(1, $gone);

// a stored filter is not kept open for the next request with functions that are gone
for ($i = 0; $i < 3; $i++) same(true, (new BloomFilter(1009, 10, storage: "$dir/kept", hashes: [fn($key) => crc32($key)]))->add("key $i"));
--EXPECT--
