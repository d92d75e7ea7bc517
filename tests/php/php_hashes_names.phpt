--TEST--
Function names of php-hashes are accepted as older code spells them, all eight together too
--FILE--
<?php require __DIR__ . '/helpers.inc';
ini_set('bloomfilter.warn', '0');
const EIGHT = ['JS', 'PJW', 'ELF', 'BKDR', 'SDBM', 'DJB', 'DEK', 'FNV'];
foreach ([['BKDR'], ['SDBM', 'JS'], EIGHT, [...EIGHT, 'RS', 'AP']] as $names) {
    $ours = 'php-hashes:' . implode(',', $names);
    $older = 'php-hashes:' . implode(',', array_map(fn(string $name) => "{$name}Hash", $names));
    $plan = BloomFilter::plan(scheme: $older);
    same([2 ** 32, count($names), $ours], [$plan['m'], $plan['k'], $plan['scheme']]);
    if (count($names) > 1) continue;                 # a filter takes 512 MB
    same($ours, BloomFilter::fromBytes("\x80", format: 'bits', scheme: $older)->scheme);
}
foreach (['JS,JSHash' => 'JS', implode(',', EIGHT) . ',FNVHash' => 'FNV'] as $wrong => $name)
    refused('ValueError', "scheme php-hashes names $name twice", fn() => BloomFilter::plan(scheme: "php-hashes:$wrong"));
foreach (['Hash', 'JSHashHash', 'JShash', implode('Hash,', EIGHT) . 'Hash,MD5Hash'] as $wrong)
    refused('ValueError', 'a name after php-hashes: must be ', fn() => BloomFilter::plan(scheme: "php-hashes:$wrong"));
--EXPECT--
