--TEST--
phpinfo() names versions, schemes and libraries
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
(new ReflectionExtension('bloomfilter'))->info();
same(phpversion('bloomfilter'), (new ReflectionExtension('bloomfilter'))->getVersion());
?>
--EXPECTF--
bloomfilter

bloomfilter => %d.%d.%d
core => %d.%d.%d
schemes => classic, block, block2%S
xxHash (compiled in) => %d.%d.%d
libsodium (keyed filters) => %s
