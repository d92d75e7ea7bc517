--TEST--
A constructor that refuses, failed or is called twice does no harm
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

# What memory cannot hold is an exception, never the end of the process; another machine may promise any amount.
try { (new BloomFilter(2 ** 40, 2 ** 36))->close(); }
catch (BloomFilterException $e) { same([BloomFilterException::NO_MEMORY, true], [$e->getCode(), str_contains($e->getMessage(), '1099511627776')], $e->getMessage()); }

# What it cannot take is an exception that names the argument (tests/catalogue has the others).
refused('TypeError', '#7 ($storage)', fn() => new BloomFilter(10, 10, storage: new stdClass));
foreach ([fn() => new BloomFilter(n: 0.01, p: 0.01), fn() => BloomFilter::plan(1000, 0.01)] as $form)
    refused('ValueError', 'for a rate write new BloomFilter(n: keys, p: 0.01)', $form);
refused('Error', 'Unknown named parameter $size', fn() => new BloomFilter(size: 10));
--EXPECT--
