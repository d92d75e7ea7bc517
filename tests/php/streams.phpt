--TEST--
save and load take streams and paths with a stream wrapper; toBase64 and fromBase64 carry the same bytes as text
--FILE--
<?php require __DIR__ . '/helpers.inc';
/** Streams as their options say: takes so many bytes in all, says so, and calls something at each step. */
class Odd
{
    public $context;
    public static array $have = [];
    public static string $data = '';
    public static ?Closure $meanwhile = null;
    private int $at = 0;
    public function stream_open(string $path): bool { @unlink(__DIR__ . '/no such file'); return $this->step(self::$have['opens'] ?? true); }     # errno is not this stream's
    public function stream_write(string $data): int
    {
        $takes = min(strlen($data), 100, (self::$have['takes'] ?? PHP_INT_MAX) - strlen(self::$data));
        self::$data .= substr($data, 0, $takes);
        return $this->step($takes);
    }
    public function stream_read(int $count): string|false
    {
        $this->at += strlen($now = substr(self::$data, $this->at, min(100, $count)));
        return $this->step($now);
    }
    public function stream_eof(): bool { return (self::$have['ends'] ?? true) && $this->at >= strlen(self::$data); }
    public function stream_stat(): array { return []; }
    private function step(mixed $answer): mixed
    {
        if (self::$meanwhile) (self::$meanwhile)();
        return $answer;
    }
}
class Flushes extends Odd { public function stream_flush(): bool { return self::$have['flushes'] ?? true; } }
stream_wrapper_register('odd', 'Odd');
stream_wrapper_register('flushes', 'Flushes');
function odd(array $have = [], ?Closure $meanwhile = null, string $data = '', string $name = 'odd'): string
{
    [Odd::$have, Odd::$data, Odd::$meanwhile] = [$have, $data, $meanwhile];
    return "$name://";
}
$dir = folder();
$notices = [];
set_error_handler(function (int $level, string $text) use (&$notices) { if (error_reporting() & $level) $notices[] = $text; return true; });

foreach (['BloomFilter', 'CountingBloomFilter'] as $class) {
    $f = new $class(n: 1000, p: 0.01);
    $f->addMany(urls(1000));
    $bytes = $f->toBytes();
    $base64 = base64_encode($bytes);
    same($base64, $f->toBase64());
    foreach ([$base64, chunk_split($base64), "  $base64\n"] as $text) {
        $back = $class::fromBase64($text, n: 1000);
        same([$class, true], [get_class($back), $back->equals($f)]);
    }
    // a stream from where it is, and it stays open
    $stream = fopen('php://memory', 'w+b');
    fwrite($stream, 'before');
    same(null, $f->save($stream));
    fseek($stream, 6);
    same(true, $class::load($stream)->equals($f));
    rewind($stream);
    same('before' . $bytes, stream_get_contents($stream));
    fclose($stream);
    // paths with a wrapper
    foreach (["compress.zlib://$dir/a.gz", "file://$dir/a.bloom", odd(), 'flushes://'] as $url) {
        Odd::$data = '';
        $f->save($url);
        same(true, $class::load($url)->equals($f), $url);
    }
    same($bytes, gzdecode(file_get_contents("$dir/a.gz")));
    same($bytes, Odd::$data);
    same(saved($f), file_get_contents("$dir/a.bloom"));
}
foreach ([new BloomFilter(n: 1000, p: 0.01, grow: 2.0), new BloomFilter(1001, 100)] as $f) {
    $f->addMany(urls($f->grow ? 5000 : 50));
    $stream = fopen("$dir/b", 'w+b');
    $f->save($stream);
    same($f->toBytes(), file_get_contents("$dir/b"));
    rewind($stream);
    same([true, $f->count()], [BloomFilter::fromBase64($f->toBase64())->equals($f), BloomFilter::load($stream)->count()]);
}
class Text { public function __toString() { return 'file-named-by-an-object'; } }
class Seen extends BloomFilter {}
same(['Seen', 'Seen'], [get_class(Seen::fromBase64($f->toBase64())), get_class(Seen::load("$dir/b"))]);
$bits = base64_encode($f->toBytes('bits'));
same(true, BloomFilter::fromBase64($bits, format: 'bits', m: 1001, n: 100, scheme: 'classic')->equals($f));

// what is wrong
$io = function (string $part, callable $call, int $code = BloomFilterException::IO) {
    try {
        $call();
        echo "no exception with '$part'\n";
    } catch (BloomFilterException $e) {
        same([true, $code], [str_contains($e->getMessage(), $part), $e->getCode()], $e->getMessage());
    }
};
$format = BloomFilterException::FORMAT;
$closed = fopen('php://memory', 'w+b');
fclose($closed);
$size = strlen($f->toBytes());
foreach (['save' => $f->save(...), 'load' => BloomFilter::load(...)] as $name => $call) {
    refused('TypeError', "supplied resource is not a valid stream resource", fn() => $call($closed));
    foreach (['array' => [], 'true' => true, 'bool' => false, 'int' => 1, 'null' => null, 'float' => 1.5, 'SplFileObject' => new SplFileObject(__FILE__), 'stdClass' => new stdClass, 'Text' => new Text] as $type => $value)
        refused('TypeError', "must be a path or an open stream, " . ($type === 'true' ? 'bool' : $type) . ' given', fn() => $call($value));
    refused('TypeError', 'supplied resource is not a valid stream resource', fn() => $call(stream_context_create()));
    refused('ValueError', 'must not contain any null bytes', fn() => $call("a\0b"));
    refused('ValueError', 'storage must be a path or a URL, got an empty one', fn() => $call(''));
    $io('odd://', fn() => $call(odd(['opens' => false])));
    refused('LogicException', 'mine', fn() => $call(odd([], fn() => throw new LogicException('mine'), 'x')));
}
$io('150 of its ' . $size, fn() => $f->save(odd(['takes' => 150])));
$io('cannot open compress.zlib:', fn() => $f->save("compress.zlib://$dir/none/a.gz"));
$io('No such file', fn() => BloomFilter::load("compress.zlib://$dir/none.gz"), BloomFilterException::NOT_FOUND);
$io('Unable to find the wrapper "nosuch"', fn() => BloomFilter::load('nosuch://x'));
$io('cannot be read to its end', fn() => BloomFilter::load(fopen("$dir/c", 'wb')));
$io('cannot be read to its end', fn() => BloomFilter::load(odd(['ends' => false], null, $f->toBytes())));
$io('is not a filter file', fn() => BloomFilter::load(fopen('/dev/zero', 'rb')), $format);
foreach ([fn() => odd(['flushes' => false], null, '', 'flushes'), fn() => fopen(odd(['flushes' => false], null, '', 'flushes'), 'wb')] as $late) $io('', fn() => $f->save($late()));
class Endless extends Odd
{
    public static int $read = 0;
    public function stream_read(int $count): string|false
    {
        if ((self::$read += $count) > 1 << 23) throw new LogicException('reads all of an endless stream');
        return substr(str_pad(substr(self::$data, self::$read - $count), $count, "\0"), 0, $count);
    }
    public function stream_eof(): bool { return false; }
}
stream_wrapper_register('endless', 'Endless');
foreach ([[], ['grow' => 2.0]] as $how)
    foreach ([10, 1000000] as $n) {
        [Endless::$data, Endless::$read] = [(new BloomFilter(...['n' => $n, 'p' => 0.01] + $how))->toBytes(), 0];
        $io('too long', fn() => BloomFilter::load('endless://'), $format);
        same(true, Endless::$read < strlen(Endless::$data) + 8193);
        Endless::$read = 0;
        $stream = fopen('endless://', 'rb');
        same(Endless::$data, BloomFilter::load($stream)->toBytes());
        same(strlen(Endless::$data), ftell($stream));
    }

// code of a stream closes the filter, or the stream, while save() runs
[$f, $g] = [new BloomFilter(n: 1000, p: 0.01), clone $f];
$f->addMany(urls(500));
$g->close();
foreach (['close', 'clear'] as $method) {
    $g = clone $f;
    $stream = fopen(odd(), 'w+b');
    Odd::$meanwhile = function () use ($stream, $g, $method) { @fclose($stream); $g->$method(); };
    $g->save($stream);
    same([true, $f->toBytes()], [is_resource($stream), Odd::$data], $method);
}
refused('BloomFilterException', 'closed', fn() => $f->save(odd([], fn() => $f->close())));
same([], $notices, 'no warning stays');

# no message has the password of a URL
foreach (['http', 'ftp', 'compress.zlib://http'] as $scheme)
    foreach (['load' => fn($url) => BloomFilter::load($url), 'save' => fn($url) => (new BloomFilter(m: 1000, k: 3))->save($url)] as $name => $call)
        try {
            $call("$scheme://user:hunter2@127.0.0.1:1/x");
            echo "$scheme: no exception\n";
        } catch (BloomFilterException $e) {
            same(false, str_contains($e->getMessage(), 'hunter2'), "$name $scheme: {$e->getMessage()}");
        }
--EXPECT--
