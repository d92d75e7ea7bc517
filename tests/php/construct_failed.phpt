--TEST--
An object whose constructor threw is no filter, and no harm
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
class Broken extends BloomFilter
{
    public static ?Broken $last = null;
    public function __construct() { self::$last = $this; parent::__construct(0, 0); }
}
refused('ValueError', 'm must be', fn() => new Broken);
refused('BloomFilterException', 'never constructed', fn() => Broken::$last->add('a'));
refused('BloomFilterException', 'never constructed', fn() => clone Broken::$last);
Broken::$last->close();
Broken::$last = null;
echo "done\n";
?>
--EXPECT--
done
