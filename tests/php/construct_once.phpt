--TEST--
A constructor that failed or is called twice does no harm
--FILE--
<?php require __DIR__ . '/helpers.inc';
# An object whose constructor threw is no filter, and no harm.
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

# A filter is constructed once.
$f = new BloomFilter(1000, 10);
$f->add('a');
refused('Error', 'already constructed', fn() => $f->__construct(2000, 10));
same([1000, true], [$f->m, $f->exists('a')]);
$f->close();
refused('Error', 'already constructed', fn() => $f->__construct(2000, 10));
refused('Error', 'already constructed', fn() => $f->__unserialize([]));

# What memory cannot hold is an exception, never the end of the process.
try {
    $f = new BloomFilter(2 ** 40, 2 ** 36);
    $f->close();                            // a machine that promises any amount
} catch (BloomFilterException $e) {
    same(BloomFilterException::NO_MEMORY, $e->getCode());
    same(true, str_contains($e->getMessage(), '1099511627776'), $e->getMessage());
}
refused('ValueError', 'n=9223372036854775807', fn() => new BloomFilter(n: PHP_INT_MAX, p: 0.01));
same(true, (new BloomFilter(1000, 10))->add('alive'));
--EXPECT--
