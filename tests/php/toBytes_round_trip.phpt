--TEST--
toBytes and fromBytes carry everything
--FILE--
<?php require __DIR__ . '/helpers.inc';
foreach ([['classic', 1003, 7], ['classic', 1, 1], ['classic', 32704, 3], ['classic', 32705, 3], ['block', 5120, 8], ['block2', 5120, 9]] as [$scheme, $m, $k]) {
    $f = new BloomFilter($m, 77, $k, scheme: $scheme);
    $f->addMany(urls(50));
    $bytes = $f->toBytes();
    $g = BloomFilter::fromBytes($bytes);
    same([$m, 77, $k, $f->p, $scheme], [$g->m, $g->n, $g->k, $g->p, $g->scheme]);
    same([true, true], [$f->equals($g), $bytes === $g->toBytes()], $scheme);
    same(50, count(array_filter($g->existMany(urls(50)))));
    $head = $m < 32705 ? 64 : 4096; // less than 4 KiB of bits have no header page
    same($head + intdiv($m + 63, 64) * 8, strlen($bytes));
    same(true, str_starts_with(substr($bytes, $head), $f->bitset), 'the bits begin after the header');
    $g->add('more');
    same(true, BloomFilter::fromBytes($g->toBytes())->exists('more'));
}
same('BloomFilter', get_class($g));
--EXPECT--
