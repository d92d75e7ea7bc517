--TEST--
Hash functions that fail on ordinary keys are told of once, when a filter with them is made or opened
--FILE--
<?php require __DIR__ . '/helpers.inc';
$warnings = [];
set_error_handler(function ($level, $text) use (&$warnings) { $warnings[] = [$level, $text]; return true; });
$told = function (callable $make) use (&$warnings) { $warnings = []; $make(); return count($warnings); };
$weak = ['scheme' => 'php-hashes:BKDR,SDBM,JS', 'n' => 100];
same(1, $told(fn() => new BloomFilter(...$weak)));
same([E_USER_WARNING, true, true], [$warnings[0][0], str_contains($warnings[0][1], 'many URLs or numbers have the same value of BKDR, SDBM,'), str_contains($warnings[0][1], 'or set bloomfilter.warn=0')]);
same(1, $told(fn() => BloomFilter::fromBytes("\x01", format: 'bits', scheme: 'php-hashes:PJW')));
same(0, $told(fn() => new BloomFilter(scheme: 'php-hashes:JS,FNV,AP', n: 100)));
$f = new BloomFilter(...$weak);
same(0, $told(fn() => $f->add('key')));
ini_set('bloomfilter.warn', '0');
same(0, $told(fn() => new BloomFilter(...$weak)));
ini_set('bloomfilter.warn', '1');
set_error_handler(fn($level, $text) => throw new LogicException($text));
refused('LogicException', 'same value of BKDR, SDBM,', fn() => new BloomFilter(...$weak));
--EXPECT--
