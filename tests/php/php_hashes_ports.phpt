--TEST--
RS and AP of php-hashes are what PHP code in that class's style answers, for every recorded key
--INI--
bloomfilter.warn=0
--FILE--
<?php require __DIR__ . '/helpers.inc';
require __DIR__ . '/vectors.inc';
error_reporting(E_ALL & ~E_WARNING); # the code relies on what PHP makes of floats beyond int, of which PHP 8.5 warns
require __DIR__ . '/hash_ports.inc';
$ports = new HashPorts;
$f = new BloomFilter(scheme: 'php-hashes:RS,AP', n: 100);
same(2, $f->k);
$keys = vector_keys();
for ($i = 0; $i < 500; $i++) $keys[] = substr(str_repeat(hash('sha512', "$i", true), 2), 0, $i % 90);
foreach ($keys as $id => $key) same([$ports->RSHash($key), $ports->APHash($key)], $f->hashcode($key), "key $id");
echo count($keys), " keys\n";
--EXPECT--
785 keys
