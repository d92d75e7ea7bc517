--TEST--
Clocks and hash functions that are references: their object lives as long as the filter, whatever the variable holds meanwhile
--FILE--
<?php require __DIR__ . '/helpers.inc';
class Watch
{
    public array $time = [1e9];
    public function now(): float { return $this->time[0]; }
    public function hash(string $key): int { return crc32($key) + (int)$this->time[0]; }
    public function __call($name, $given): float { return $this->time[0]; }
}
/* What is freed is written over: else nobody would notice. */
function drop(mixed &$variable): void { $variable = null; $GLOBALS['over'] = array_map(fn($i) => str_repeat(chr($i), 8 + 8 * ($i % 32)), range(0, 255)); }
/* PHP code that runs while the arguments are read. */
class Dropping
{
    public function __construct(private mixed &$variable, private string $text) {}
    public function __toString(): string { drop($this->variable); return $this->text; }
}
$dir = folder();
foreach (['now', 'any'] as $method) {
    $make = [
        'new' => fn(&$o) => new BloomFilter(n: 100, p: 0.01, window: 60.0, clock: [&$o, $method]),
        'storage' => fn(&$o) => new BloomFilter(n: 100, p: 0.01, window: 60.0, storage: new Dropping($o, "$dir/$method"), clock: [&$o, $method]),
        'open' => fn(&$o) => BloomFilter::open(new Dropping($o, "$dir/$method"), clock: [&$o, $method]),
        'closure' => function (&$o) use ($method) { $c = [$o, $method]; $c = $c(...); return new BloomFilter(n: 100, p: 0.01, window: 60.0, clock: $c); },
    ];
    foreach ($make as $how => $call) {
        $o = new Watch;
        $f = $call($o);
        drop($o);
        same([true, true, false, 1], [$f->add($how), $f->exists($how), (clone $f)->add($how), $f->addMany([$how, "more $how"])], "$method $how");
        if ($how === 'open') $f->save("$dir/saved $method");
    }
    class_exists('Slow') || eval('class Slow { public $context; private $in; function stream_open($path) { drop($GLOBALS["o"]); $this->in = fopen(substr($path, 7), "rb"); return true; }
        function stream_read($n) { drop($GLOBALS["o"]); return fread($this->in, $n); } function stream_eof() { return feof($this->in); } function stream_stat() { return []; } }');
    in_array('slow', stream_get_wrappers()) || stream_wrapper_register('slow', 'Slow');
    $o = new Watch;
    $f = BloomFilter::load("slow://$dir/saved $method", clock: [&$o, $method]);
    same([null, true, true], [$o, $f->exists('open'), $f->add('new')]);
}
$o = new Watch;     /* dropped before the arguments are all read: not callable any more */
refused('TypeError', '($clock) must be a valid callback or null', function () use (&$o) { BloomFilter::load('x', clock: [&$o, 'now'], overfull: new Dropping($o, 'warn')); });
$o = new Watch;
$f = new BloomFilter(n: 100, p: 0.01, hashes: [[&$o, 'hash'], [&$o, 'hash']]);
drop($o);
same([true, true], [$f->add('a'), $f->exists('a')]);
--EXPECT--
