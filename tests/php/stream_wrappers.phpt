--TEST--
save and load through wrappers of the user: a failed flush, suppressed warnings in stream_open, errno of other calls
--FILE--
<?php require __DIR__ . '/helpers.inc';
class Wrapper
{
    public $context;
    public static bool $opens = true;
    public function stream_open($path, $mode, $options, &$opened)
    {
        @unlink(__DIR__ . '/no such file');
        file_exists(__DIR__ . '/no such file');
        return self::$opens;
    }
    public function stream_write($bytes) { return strlen($bytes); }
    public function stream_eof() { return true; }
    public function stream_stat() { return []; }
    public function stream_close() {}
}
class Late extends Wrapper
{
    public static bool $stores = false;
    public function stream_flush() { return self::$stores; }
}
stream_wrapper_register('plain', Wrapper::class);
stream_wrapper_register('late', Late::class);
$f = new BloomFilter(n: 1000, p: 0.01);
$code = function (callable $call): int {
    try {
        $call();
        return 0;
    } catch (BloomFilterException $e) {
        return $e->getCode();
    }
};
same(0, $code(fn () => $f->save('plain://x')));
same(BloomFilterException::IO, $code(fn () => $f->save('late://x')));
$open = fopen('late://x', 'wb');
same(BloomFilterException::IO, $code(fn () => $f->save($open)));
Late::$stores = true;
same(0, $code(fn () => $f->save('late://x')));
same(0, $code(fn () => $f->save($open)));
Wrapper::$opens = false;
foreach (['plain', 'late'] as $name) same(BloomFilterException::IO, $code(fn () => BloomFilter::load("$name://x")));
echo "done\n";
--EXPECT--
done
