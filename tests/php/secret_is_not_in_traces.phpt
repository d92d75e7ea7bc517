--TEST--
Secrets do not show in stack traces
--INI--
zend.exception_ignore_args=0
zend.exception_string_param_max_len=1000
--FILE--
<?php require __DIR__ . '/helpers.inc';
$secret = 'very secret key!';
foreach ([fn() => new BloomFilter(0, 10, secret: $secret), fn() => BloomFilter::fromBytes('x', $secret), fn() => BloomFilter::load('/nowhere', $secret),
          fn() => BloomFilter::plan(0, 10, secret: $secret), fn() => BloomFilter::open('/nowhere', $secret)] as $call) {
    try { $call(); echo "no exception\n"; }
    catch (Throwable $e) { same([false, true], [str_contains(print_r($e->getTrace(), true), $secret), str_contains(print_r($e->getTrace(), true), 'SensitiveParameterValue')]); }
}
--EXPECT--
