<?php
/* mutants.php make SEED COUNT: images of all kinds of filters, changed at random, most with checksums that fit again; one line of base64 each.
 * mutants.php read PATH: for each such line what fromBytes(), load() and open() of this file say. test_mutants.py compares the answers with the extension's. */
ini_set('memory_limit', '512M');
function sum(string $bytes): string { return strrev(hash('xxh3', $bytes, true)); }
/** The checksums of the header that begins at $at. */
function sealed(string $b, int $at): string
{
    $put = function (int $to, string $text) use (&$b) { $b = substr_replace($b, $text, $to, strlen($text)); };
    if (strlen($b) - $at >= 64 && unpack('V', $b, $at + 8)[1] === 2) $put($at + 16, sum(substr($b, $at + 24)));
    elseif (strlen($b) - $at >= 4096) {
        $put($at + 16, sum(substr($b, $at + 24, 2024)));
        $page = substr($b, $at, 4096);
        $put($at + 4088, sum(substr($page, 0, 2048) . substr($page, 2056, 8) . substr($page, 2056, 24) . str_repeat("\0", 8) . substr($page, 2088, 2000)));
    }
    return $b;
}
function number(int $bytes): string
{
    $v = [0, 1, 2, 3, 4, 5, 15, 63, 64, 255, 256, 511, 512, 4095, 4096, 4097, 65536, 0x7fffffff, 0x80000000, 0xffffffff, 1 << 40, (1 << 40) + 1, PHP_INT_MAX, -1, PHP_INT_MIN, mt_rand()];
    return substr(pack('P', $v[mt_rand(0, count($v) - 1)]), 0, $bytes);
}
function kinds(): array
{
    $spec = [['n' => 30, 'p' => 0.01], ['m' => 1000, 'k' => 3], ['n' => 30, 'p' => 1e-5], ['n' => 3000, 'p' => 0.001], ['m' => 70001, 'k' => 5], ['n' => 30, 'p' => 0.1, 'grow' => 2.0], ['n' => 3000, 'p' => 0.1, 'grow' => 1.5],
        ['n' => 30, 'p' => 0.1, 'window' => 60.0], ['n' => 500, 'p' => 0.1, 'scheme' => 'classic', 'shards' => 3], ['n' => 20, 'scheme' => 'gozero'], ['m' => 999, 'k' => 3, 'scheme' => 'php-mt'],
        ['n' => 30, 'p' => 0.1, 'secret' => str_repeat('s', 16)], ['n' => 30, 'p' => 0.1, 'scheme' => 'guava']];
    foreach ($spec as $one) {
        $f = new BloomFilter(...$one);
        $f->addMany(range(1, mt_rand(1, 60)));
        $kinds[] = $f->toBytes();
        $f->save($path = tempnam(sys_get_temp_dir(), 'mutant'));     # with header pages
        $kinds[] = file_get_contents($path);
        unlink($path);
    }
    foreach ([['n' => 30, 'p' => 0.1], ['n' => 3000, 'p' => 0.1], ['n' => 30, 'p' => 0.1, 'grow' => 2.0]] as $one) {
        $f = new CountingBloomFilter(...$one);
        $f->addMany(range(1, 40));
        $kinds[] = $f->toBytes();
    }
    return $kinds;
}
if ($argv[1] === 'make') {
    mt_srand((int) $argv[2]);
    $kinds = kinds();
    for ($i = 0; $i < (int) $argv[3]; $i++) {
        $b = $kinds[mt_rand(0, count($kinds) - 1)];
        $heads = [0];
        for ($at = 8; ($at = strpos($b, "\x8BBLM\r\n\x1a\n", $at)) !== false; $at++) $heads[] = $at;
        $at = $heads[mt_rand(0, count($heads) - 1)];
        for ($times = mt_rand(0, 3); $times--;) {
            $field = [[8, 4], [12, 4], [16, 8], [24, 4], [28, 4], [32, 8], [40, 8], [48, 4], [52, 4], [56, 8], [64, 8], [72, 8], [80, 8], [88, 8], [96, 8], [144, 8], [152, 8], [160, 4], [192, 4], [2048, 8], [2056, 8],
                [2064, 8], [2072, 8], [2080, 8], [2088, 8], [mt_rand(0, 200), 1], [mt_rand(0, strlen($b) - 1), 1]][mt_rand(0, 26)];
            if ($at + $field[0] + $field[1] <= strlen($b)) $b = substr_replace($b, mt_rand(0, 2) ? number($field[1]) : (mt_rand(0, 1) ? random($field[1]) : substr($b, $at + $field[0], $field[1]) ^ pack('P', 1 << mt_rand(0, 30))), $at + $field[0], $field[1]);
        }
        if (!mt_rand(0, 5)) $b = substr($b, 0, mt_rand(0, strlen($b)));
        if (!mt_rand(0, 9)) $b .= str_repeat("\0", mt_rand(1, 9000));
        if (mt_rand(0, 9)) foreach (array_reverse($heads) as $head) if ($head < strlen($b)) $b = sealed($b, $head);
        echo base64_encode(gzcompress($b)), "\n";
    }
    exit;
}
function random(int $bytes): string { for ($text = ''; $bytes--;) $text .= chr(mt_rand(0, 255)); return $text; }
function said(callable $call): string
{
    try {
        $f = $call();
        return get_class($f) . ' ' . md5($f->bitset) . ' ' . md5($f->toBytes()) . " $f->m $f->n $f->k $f->p $f->scheme";
    } catch (Throwable $e) {
        return get_class($e) . ' ' . $e->getCode() . ' ' . $e->getMessage();
    }
}
while (($line = fgets(STDIN)) !== false) {
    $b = gzuncompress(base64_decode($line));
    $class = strlen($line) % 2 ? 'BloomFilter' : 'CountingBloomFilter';
    file_put_contents($argv[2], $b);
    $said = [said(fn() => $class::fromBytes($b)), said(fn() => $class::load($argv[2])), said(fn() => $class::open($argv[2], readOnly: true))];
    unlink($argv[2]);                                            # another one may be mapped
    echo implode(' | ', $said), "\n";
}
