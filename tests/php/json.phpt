--TEST--
json_encode() of a filter in memory has every key, and fromJson() reads it; what JSON cannot carry is an exception
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
foreach ([['BloomFilter', []], ['CountingBloomFilter', []], ['BloomFilter', ['grow' => 2.0]], ['BloomFilter', ['window' => 60.0]], ['CountingBloomFilter', ['grow' => 1.0]]] as [$class, $how]) {
    $f = new $class(...['n' => 100, 'p' => 0.01] + $how, overfull: 'ignore');
    $f->addMany(urls(300));
    $json = json_encode($f);
    same('{"bloomfilter":' . json_encode($f->toBase64()) . '}', $json);
    foreach ([$json, json_decode($json, true), json_encode(['bloomfilter' => $f->toBase64(), 'more' => 1], JSON_PRETTY_PRINT), ['x' => [], 'bloomfilter' => $f->toBase64()]] as $from) {
        $back = $class::fromJson($from);
        same([$class, 300, $how['grow'] ?? null], [get_class($back), array_sum($back->existMany(urls(300))), $back->grow]);
    }
    same($json, json_encode([clone $f])  === "[$json]" ? $json : null);
    same('[[' . $json . ']]', json_encode([[$f]]));
}
class Seen extends BloomFilter { public $extra = 1; }
same('Seen', get_class(Seen::fromJson(json_encode(new Seen(n: 10, p: 0.1)))));
$clock = fn() => 1e9;
$f = new BloomFilter(n: 100, p: 0.01, window: 60, clock: $clock);
$f->add('x');
same(true, BloomFilter::fromJson(json_encode($f), clock: $clock)->exists('x'));
$f = new BloomFilter(1009, 50, hashes: ['crc32']);
$f->add('x');
same(true, BloomFilter::fromJson(json_encode($f), hashes: ['crc32'])->exists('x'));
refused('ValueError', 'needs the hash functions', fn() => BloomFilter::fromJson(json_encode($f)));
refused('ValueError', 'overfull must be warn, raise or ignore', fn() => BloomFilter::fromJson(json_encode($f), overfull: 'no'));

$io = function (int $code, string $part, callable $call) {
    try {
        $call();
        echo "no exception with '$part'\n";
    } catch (BloomFilterException $e) {
        same([true, $code], [str_contains($e->getMessage(), $part), $e->getCode()], $e->getMessage());
    }
};
[$format, $not] = [BloomFilterException::FORMAT, BloomFilterException::NOT_SUPPORTED];
$f = new BloomFilter(n: 100, p: 0.01, storage: "$dir/f");
$f->add('x');
$io($not, 'a filter in a file or in Redis cannot be encoded as JSON: encode a copy in memory, json_encode(clone $filter)', fn() => json_encode($f));
same(true, BloomFilter::fromJson(json_encode(clone $f))->exists('x'));
$io($not, 'a keyed filter cannot be encoded as JSON, its secret is never stored', fn() => json_encode(new BloomFilter(n: 100, p: 0.01, secret: str_repeat('s', 16))));
foreach (['', '{', "{'bloomfilter': 1}", "\xff"] as $text) $io($format, 'the text is not JSON', fn() => BloomFilter::fromJson($text));
same(JSON_ERROR_NONE, json_last_error());
foreach (['5', 'null', '[]', '"x"', '{"bloomfilter": 5}', '{"BloomFilter": "x"}', [], ['bloomfilter' => null]] as $other) $io($format, 'the JSON is not a filter: it has no text bloomfilter', fn() => BloomFilter::fromJson($other));
$io(BloomFilterException::MISMATCH, '', fn() => CountingBloomFilter::fromJson(json_encode(clone $f)));
refused('TypeError', 'must be of type array|string, stdClass given', fn() => BloomFilter::fromJson(json_decode(json_encode(clone $f))));
$f->close();
$io(BloomFilterException::CLOSED, 'closed', fn() => json_encode($f));
--EXPECT--
