--TEST--
phpinfo() names versions, schemes and libraries
--FILE--
<?php require __DIR__ . '/helpers.inc';
(new ReflectionExtension('bloomfilter'))->info();
same(phpversion('bloomfilter'), (new ReflectionExtension('bloomfilter'))->getVersion());
--EXPECTF--
bloomfilter

bloomfilter => %d.%d.%d%S
core => %d.%d.%d%S
schemes => classic, block, block2%S
xxHash (compiled in) => %d.%d.%d
libsodium (keyed filters) => %s
OpenSSL (rediss://) => %s
files and Redis filters kept open => 0 (at most 64)

Directive => Local Value => Master Value
bloomfilter.max_maps => 64 => 64
bloomfilter.warn => On => On
bloomfilter.unserialize_storage => Off => Off
bloomfilter.class_prefix => no value => no value
