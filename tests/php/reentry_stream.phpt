--TEST--
Code of a stream that closes the filter, or the stream, while save() runs
--FILE--
<?php require __DIR__ . '/helpers.inc';
require __DIR__ . '/odd_stream.inc';
$f = new BloomFilter(n: 1000, p: 0.01);
$f->addMany(urls(500));
$g = clone $f;
refused('BloomFilterException', 'closed', fn() => $g->save(odd([], fn() => $g->close())));
$stream = fopen(odd(), 'w+b');
Odd::$meanwhile = fn() => @fclose($stream);
$f->save($stream);
same([true, $f->toBytes()], [is_resource($stream), Odd::$data]);
foreach (['close', 'clear'] as $method) {
    $g = clone $f;
    [Odd::$data, Odd::$meanwhile] = ['', fn() => $g->close()];
    if ($method === 'clear') Odd::$meanwhile = fn() => $g->clear();
    $g->save($stream);
    same($f->toBytes(), Odd::$data, $method);
}
--EXPECT--
