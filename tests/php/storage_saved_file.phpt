--TEST--
A saved file is opened and used; its damaged bits are found
--FILE--
<?php require __DIR__ . '/helpers.inc';
$path = folder() . '/a.bloom';
$f = new BloomFilter(n: 10000, p: 0.01);
$f->addMany(urls(1000));
$f->save($path);
same($f->toBytes(), file_get_contents($path));
$bytes = file_get_contents($path);
for ($at = 4096; $at < strlen($bytes); $at += 1009) {
    $damaged = $bytes;
    $damaged[$at] = chr(ord($bytes[$at]) ^ 1);
    new_file($path, $damaged);
    refused('BloomFilterException', 'checksum', fn() => BloomFilter::open($path));
}
$f->save($path);
$g = BloomFilter::open($path);
same(1000, array_sum($g->existMany(urls(1000))));
same($f->toBytes(), file_get_contents($path), 'reading writes nothing');
same([true, true], [$g->add('more'), BloomFilter::open($path)->exists('more')]);
same('1', in_other_php('echo BloomFilter::open(' . var_export($path, true) . ')->exists("more");'));
$own = fn() => $g->save($path);
refused('BloomFilterException', 'open for writing in this process: save elsewhere and rename, or close it', $own);
$bytes = $g->toBytes();
$copy = clone $g;
$g->close(); # its file stays open in this worker, for nobody
$copy->save($path);
same([true, $bytes], [BloomFilter::open($path)->exists('more'), file_get_contents($path)]);
--EXPECT--
