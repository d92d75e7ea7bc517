<?php
/* pleonasm.php - Compat\Pleonasm: its own filters, and the JSON of pleonasm/bloom-filter, whose bits are computed here by that package's rule. */
require __DIR__ . '/glue.inc';
use Bloomfilter\Glue\Compat\Pleonasm;

/** The JSON of a filter of that package with these keys. */
function theirs(int $bits, int $count, array $keys): string
{
    $bytes = str_repeat("\0", intdiv($bits + 7, 8));
    foreach ($keys as $key) for ($i = 0; $i < $count; $i++) {
        $at = hexdec(substr(hash_hmac('sha1', $key, (string) $i), 0, 8)) & 0x7fffffff;
        $at = (($at % $bits) * (0x100000000 % $bits) + hexdec(substr(hash_hmac('sha1', $key, (string) $i), 8, 8))) % $bits;
        $bytes[$at >> 3] = chr(ord($bytes[$at >> 3]) | 1 << ($at & 7));
    }
    return json_encode(['bit_array' => ['len' => $bits, 'arr' => base64_encode($bytes)], 'hashers' => ['algo' => 'sha1', 'count' => $count, 'max' => $bits]]);
}

$filter = Pleonasm::init(100, 0.001);
same(false, $filter->exists('Paul'));
same(null, $filter->add('Paul'));
foreach ([$filter, Pleonasm::initFromJson(json_decode(json_encode($filter), true))] as $each) same([true, false], [$each->exists('Paul'), $each->exists('Leto')]);
same(100, $filter->filter->n);

if (extension_loaded('bloomfilter')) foreach ([[1438, 10], [50, 1], [1, 1], [1000003, 7]] as [$bits, $count]) {
    $json = theirs($bits, $count, ['foo', 'bar']);
    $old = Pleonasm::initFromJson(json_decode($json, true));
    same([true, true, $bits === 1], [$old->exists('foo'), $old->exists('bar'), $old->exists('baz')]);
    same($json, json_encode($old));
    $old->add('baz');
    same(theirs($bits, $count, ['foo', 'bar', 'baz']), json_encode($old));
}
foreach ([fn() => Pleonasm::init(0, 0.1), fn() => Pleonasm::init(100, 1.0), fn() => Pleonasm::initFromJson([])] as $wrong) {
    try {
        $wrong();
        same('an exception', 'none');
    } catch (ValueError|BloomFilterException) {
    }
}
echo "end\n";
