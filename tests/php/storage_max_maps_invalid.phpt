--TEST--
A senseless bloomfilter.max_maps is as none given
--INI--
bloomfilter.max_maps=-5
--FILE--
<?php require __DIR__ . '/helpers.inc';
same('64', ini_get('bloomfilter.max_maps'));
--EXPECT--
