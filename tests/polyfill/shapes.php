<?php
/* shapes.php - filters of random shapes, and all that they say, one line each: the same with the extension and without.
 * Argument: the seed. */
ini_set('memory_limit', '-1');
mt_srand((int) $argv[1]);

function shape(int $i): array
{
    $n = mt_rand(1, 3000);
    $p = 10 ** -(mt_rand(3, 60) / 10);
    $rate = ['n' => $n, 'p' => $p];
    return match ($i % 15) {
        0 => $rate,
        1 => ['m' => mt_rand(1, 60000), 'k' => mt_rand(1, 30)],
        2 => $rate + ['scheme' => 'classic'],
        3 => $rate + ['scheme' => 'block2'],
        4 => $rate + ['scheme' => 'block'],
        5 => $rate + ['grow' => 1 + mt_rand(1, 60) / 10],
        6 => ['m' => mt_rand(100, 60000), 'k' => mt_rand(1, 9), 'scheme' => 'php-mt'],
        7 => ['m' => mt_rand(100, 60000), 'k' => mt_rand(1, 9), 'scheme' => 'php-mt-legacy'],
        8 => ['m' => mt_rand(100, 60000), 'scheme' => 'gozero'],
        9 => $rate + ['shards' => mt_rand(1, 9)],
        10 => $rate + ['secret' => str_pad((string) $i, 16, 's')],
        11 => $rate + ['class' => 'CountingBloomFilter'],
        12 => ['m' => mt_rand(1, 5_000_000), 'p' => $p],
        13 => ['m' => 512 * mt_rand(1, 40), 'k' => mt_rand(9, 16), 'scheme' => 'block'],
        14 => ['m' => mt_rand(1, 60000), 'n' => $n, 'class' => 'CountingBloomFilter'],
    };
}

function describe(array $shape): array
{
    $class = $shape['class'] ?? 'BloomFilter';
    unset($shape['class']);
    $f = new $class(...$shape);
    $plan = $class::plan(...$shape);
    $said = [$f->m, $f->n, $f->k, $f->p, $f->scheme, $plan];
    $keys = array_map(fn($i) => "key $i", range(1, min(500, $f->n * 2)));
    foreach ($keys as $key) $said[0] += $f->add($key);
    if ($class !== 'BloomFilter') array_push($said, $f->remove('key 3'), $f->countOf('key 4'), $f->removeMany(['key 5', 'none']), md5($f->toPlain()->toBytes()));
    $other = (clone $f);
    $other->addMany(range(1, 100));
    array_push($said, array_sum($f->existMany(range(1, 300))), $f->count(), $f->fpr(), $f->fillRatio(), $f->saturated(), $f->hashcode('x'));
    foreach ([$f, $other, $f->union($other)] as $one) $said[] = md5($one->toBytes());
    if (!isset($shape['grow'])) array_push($said, md5($f->intersect($other)->toBytes()), $f->isSubsetOf($other), $f->unionCount($other), $f->intersectionCount($other));
    if (!isset($shape['secret'])) $said[] = $class::fromBytes($f->toBytes())->equals($f);
    if (isset($shape['grow'])) array_push($said, $f->addMany(range(1, 4000)), $f->m, $f->partInfo(), md5($f->toBytes()));
    return $said;
}

for ($i = 0; $i < 150; $i++) {
    $shape = shape($i);
    try {
        $said = describe($shape);
    } catch (ValueError $e) {
        $said = $e->getMessage();
    }
    echo json_encode([$shape, $said]), "\n";
}
