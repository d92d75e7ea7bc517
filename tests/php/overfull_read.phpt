--TEST--
overfull is not stored: fromBytes, fromBase64 and load take it, and serialize carries it
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
$warnings = 0;
set_error_handler(function () use (&$warnings) { $warnings++; return true; });
class Own extends BloomFilter {}
$stream = fopen('php://memory', 'w+b');
$ways = [
    'fromBytes' => fn($f, $how) => $f::fromBytes($f->toBytes(), overfull: $how),
    'fromBase64' => fn($f, $how) => $f::fromBase64($f->toBase64(), overfull: $how),
    'load' => fn($f, $how) => $f::load("$dir/a", overfull: $how),
    'stream' => fn($f, $how) => $f::load("file://$dir/a", overfull: $how),
    'open' => fn($f, $how) => $f::open("$dir/a", readOnly: false, overfull: $how),
    'serialize' => fn($f, $how) => unserialize(serialize($f::fromBytes($f->toBytes(), overfull: $how))),
    'serialize a file' => fn($f, $how) => unserialize(serialize($f::open("$dir/a", overfull: $how))),
    'clone' => fn($f, $how) => clone $f::fromBytes($f->toBytes(), overfull: $how),
];
ini_set('bloomfilter.unserialize_storage', '1');
foreach (['BloomFilter', 'Own', 'CountingBloomFilter'] as $class) {
    $f = new $class(n: 1000, p: 0.01, overfull: 'ignore');
    $f->addMany(urls(3000));
    $f->save("$dir/a");
    foreach ($ways as $name => $way) foreach ([null, 'warn', 'ignore', 'raise'] as $how) foreach ([0, 1] as $ini) {
        ini_set('bloomfilter.warn', (string) $ini);
        $warnings = 0;
        $g = $way($f, $how);
        same([$class, true], [get_class($g), $g->equals($f)]);
        if ($how === 'raise') refused('BloomFilterException', 'n=1000', fn() => $g->addMany(urls(1000, 'b')));
        else $g->addMany(urls(1000, 'b'));
        same($how === 'warn' || ($how === null && $ini) ? 1 : 0, $warnings, "$class $name $how $ini");
        $g->close();
        $f->save("$dir/a");
    }
}
$bits = BloomFilter::fromBytes($f->toPlain()->toBytes('bits'), format: 'bits', m: $f->m, n: $f->n, k: $f->k, scheme: $f->scheme, overfull: 'raise');
refused('BloomFilterException', 'n=1000', fn() => $bits->addMany(urls(1000, 'c')));
foreach (['fromBytes', 'fromBase64', 'load'] as $name)
    refused('ValueError', 'overfull must be warn, raise or ignore, got Raise', fn() => BloomFilter::$name($name === 'load' ? "$dir/a" : '', overfull: 'Raise'));
refused('ValueError', 'overfull must be warn, raise or ignore, got Raise', fn() => unserialize(str_replace('raise', 'Raise', serialize($bits))));
--EXPECT--
