<?php
/* own.php - what is the polyfill's own: files that are read while the extension writes them, what is not there.
 * Arguments: a command that runs PHP with the extension. */
require __DIR__ . '/../php/helpers.inc';
ini_set('memory_limit', '-1');
$extension = array_slice($argv, 1);

/** The extension's answer to a line of code, while this process goes on. */
function extension(string $code): string
{
    global $extension;
    $process = proc_open([...$extension, '-r', $code], [1 => ['pipe', 'w']], $pipes);
    $text = stream_get_contents($pipes[1]);
    proc_close($process);
    return $text;
}
function not_there(string $part, callable $call): void
{
    refused('BloomFilterException', $part, $call);
    try { $call(); } catch (BloomFilterException $e) { same(BloomFilterException::NOT_SUPPORTED, $e->getCode(), $part); }
}

# a file of the extension: its later keys are seen, nothing can be added
foreach (['block' => 'n: 1000, p: 0.01', 'classic' => 'm: 10007, n: 1000', 'block2' => 'n: 1000, p: 1e-5'] as $scheme => $how) {
    $path = folder() . "/$scheme.bloom";
    same('1', extension("\$f = new BloomFilter($how, storage: '$path'); echo (int) \$f->add('before');"));
    $f = BloomFilter::open($path);
    same([true, false, $scheme], [$f->exists('before'), $f->exists('later'), $f->scheme]);
    same('1', extension("\$f = BloomFilter::open('$path'); echo \$f->add('later'), \$f->addMany(range(1, 50)) > 45 ? '' : 'few';"));
    same([true, true, 50], [$f->exists('later'), (clone $f)->exists('later'), array_sum($f->existMany(range(1, 50)))]);
    same([true, 'file', $path, true], [abs($f->count() - 52) < 3, $f->info()['home'], $f->info()['storage'], $f->info()['readOnly']]);
    foreach ([fn() => $f->add('x'), fn() => $f->addMany(['x']), fn() => $f->clear(), fn() => $f->rebuild(['x']), fn() => $f->merge(clone $f)] as $call) not_there('is open read-only, pure PHP cannot write', $call);
    not_there('is open read-only: nothing', fn() => BloomFilter::open($path, readOnly: true)->add('x'));
    $copy = clone $f;
    same([true, false], [$copy->add('x'), $f->exists('x')]);
    $copy->save("$path.copy");
    same('11', extension("\$f = BloomFilter::open('$path.copy'); echo (int) \$f->exists('x'), (int) \$f->exists('later');"));
    same(true, BloomFilter::load("$path.copy")->equals($copy));
}
# one that grows meanwhile, one that counts
$path = folder() . '/growing';
same('', extension("\$f = new BloomFilter(n: 100, p: 0.01, grow: 2.0, storage: '$path'); \$f->addMany(range(1, 100));"));
$f = BloomFilter::open($path);
$before = count($f->partInfo());
same('', extension("\$f = BloomFilter::open('$path'); \$f->addMany(range(101, 9000));"));
same([9000, true], [array_sum($f->existMany(range(1, 9000))), count($f->partInfo()) > $before]);
$path = folder() . '/counting';
same('', extension("\$f = new CountingBloomFilter(n: 100, p: 0.01, storage: '$path'); \$f->addMany(['a', 'a', 'b']);"));
$f = CountingBloomFilter::open($path);
same([2, 1, 0], [$f->countOf('a'), $f->countOf('b'), $f->countOf('c')]);
not_there('read-only', fn() => $f->remove('a'));

# what is not there is said
$none = folder() . '/none';
not_there('pure PHP opens files to read', fn() => new BloomFilter(n: 10, p: 0.1, storage: $none));
refused('BloomFilterException', 'No such file', fn() => BloomFilter::open($none));
same(false, file_exists($none));
not_there('window=60 needs the extension', fn() => new BloomFilter(n: 10, p: 0.1, window: 60));
not_there('exclusive needs the extension', fn() => BloomFilter::open($path, exclusive: true));
not_there('hashes needs the extension', fn() => new BloomFilter(m: 100, hashes: [fn() => 1]));
not_there('scheme guava needs the extension', fn() => new BloomFilter(n: 10, p: 0.1, scheme: 'guava'));
not_there('makes no connection of its own', fn() => BloomFilter::open('redis://me:s3same@127.0.0.1/0?key=k'));
refused('ValueError', 'scheme must be classic', fn() => new BloomFilter(n: 10, p: 0.1, scheme: 'murmur'));
ini_set('memory_limit', '64M');
try { new BloomFilter(n: 100_000_000, p: 0.01); echo "memory\n"; } catch (BloomFilterException $e) { same(BloomFilterException::NO_MEMORY, $e->getCode()); }
ini_set('memory_limit', '-1');

# == compares bits
$make = function (string ...$keys) { $f = new BloomFilter(n: 100, p: 0.01); $f->addMany($keys); return $f; };
same([true, true, false, true], [$make('a', 'b') == $make('b', 'a'), $make('a') == clone $make('a'), $make('a') == $make('b'), in_array($make('a'), [$make('b'), $make('a')])]);
same([true, false], [$make('a') == unserialize(serialize($make('a'))), $make('a') == BloomFilter::fromBytes($make('b')->toBytes())]);

# no memory for what a header claims; two processes save under one name
$stream = fopen('php://memory', 'w+');
$page = substr((new BloomFilter(m: 1 << 20, k: 3))->toBytes(), 0, 4096);
$page = substr_replace($page, pack('P', 1 << 32), 32, 8);
$page = substr_replace($page, pack('P', 1 << 29), 64, 8);
$page = substr_replace($page, strrev(hash('xxh3', substr($page, 24, 2024), true)), 16, 8);
$page = substr_replace($page, strrev(hash('xxh3', substr($page, 0, 2048) . substr($page, 2056, 8) . substr($page, 2056, 24) . str_repeat("\0", 8) . substr($page, 2088, 2000), true)), 4088, 8);
ini_set('memory_limit', '64M');
foreach ([fn($s) => BloomFilter::load($s), fn($s) => BloomFilter::fromBytes(stream_get_contents($s))] as $read) {
    rewind($stream);
    ftruncate($stream, 0);
    fwrite($stream, $page);
    rewind($stream);
    refused('BloomFilterException', 'is truncated: 4096 bytes, m=4294967296 needs 536875008', fn() => $read($stream));
}
ini_set('memory_limit', '-1');
$path = folder() . '/one';
for ($children = [], $i = 0; $i < 4; $i++)
    $children[] = proc_open([PHP_BINARY, '-n', '-r', 'require "' . dirname(__DIR__, 2) . '/php-polyfill/autoload.php"; for ($i = 0; $i < 200; $i++) (new BloomFilter(n: 10, p: 0.1))->save($argv[1]);', $path], [2 => ['pipe', 'w']], $pipes[]);
foreach ($children as $i => $child) same(['', 0], [stream_get_contents($pipes[$i][2]), proc_close($child)]);
same(['one'], array_values(array_filter(scandir(dirname($path)), fn($name) => str_starts_with($name, 'one'))));

# serialized data cannot set what is private to the class
foreach (["\0BloomFilter\0filter", 'filter'] as $name) {
    $f = (new ReflectionClass('BloomFilter'))->newInstanceWithoutConstructor();
    try { $f->__unserialize(['bytes' => (new BloomFilter(n: 10, p: 0.1))->toBytes(), 'members' => [$name => null]]); } catch (Error) {}
    same(false, $f->exists('a'), $name);
}

# no dump or cast shows the secret or the bits
foreach ([['p' => .1], ['p' => 1e-5], ['p' => .1, 'grow' => 2.0], ['p' => .1, 'scheme' => 'classic']] as $how) {
    $f = new BloomFilter(...$how + ['n' => 50, 'secret' => $secret = 'S3CRETs3cretS3CR']);
    $f->addMany(range(1, 40));
    ob_start();
    foreach ([$f, (array) $f] as $what) { var_dump($what); print_r($what); var_export($what); }
    $shown = ob_get_clean();
    same([false, false], [str_contains($shown, $secret), str_contains($shown, substr($f->toBytes(), -8))], json_encode($how));
    refused('BloomFilterException', '', fn() => serialize((array) $f));
}

# a subclass overrides a method by an argument without a type, which the extension takes too
eval('class Seen extends BloomFilter { public function add($key): bool { return parent::add("seen:$key"); } }');
$seen = new Seen(n: 100, p: 0.01);
same([true, true, false, 'Seen'], [$seen->add('x'), $seen->exists('seen:x'), $seen->exists('x'), get_class($seen->union($seen))]);
echo "done\n";
