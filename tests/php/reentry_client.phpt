--TEST--
A subclass of phpredis that asks, changes, closes, copies, merges or drops the filter whose trip it makes
--SKIPIF--
<?php if (!extension_loaded('redis')) die('skip phpredis is not loaded');
--FILE--
<?php require __DIR__ . '/redis.inc';
$server = new RedisServer;
class R extends Redis
{
    public $do = null;
    public $last = null;
    private function run(): void { if ($do = $this->do) { $this->do = null; $do($this); } }
    public function rawCommand($c, ...$a): mixed { $this->run(); return parent::rawCommand($c, ...$a); }
    public function exec(): Redis|array|false { $this->run(); return parent::exec(); }
    public function getHost(): string { $this->run(); return parent::getHost(); }
    public function __destruct() { if ($this->last) ($this->last)(); }
}
function client(RedisServer $server): R { $r = new R; $r->connect('127.0.0.1', $server->port, 5); return $r; }
function f(): BloomFilter { return $GLOBALS['f']; }
$memory = new BloomFilter(n: 1000, p: 0.01);
$memory->add('m');
$r = client($server);
$inner = ['close' => fn() => f()->close(), 'add' => fn() => f()->add('x'), 'exists' => fn() => f()->exists('x'), 'addMany' => fn() => f()->addMany(['x']), 'count' => fn() => count(f()),
    'info' => fn() => f()->info(), 'clear' => fn() => f()->clear(), 'delete' => fn() => f()->delete(), 'expire' => fn() => f()->expire(5), 'clone' => fn() => clone f(),
    'merge' => fn() => f()->merge($memory), 'merged' => fn() => $memory->merge(f()), 'union' => fn() => f()->union($memory), 'equals' => fn() => $memory->equals(f()),
    'bytes' => fn() => f()->toBytes(), 'bitset' => fn() => f()->bitset, 'rebuild' => fn() => f()->rebuild(['a'])];
$outer = ['add' => fn() => f()->add('y' . random_int(0, PHP_INT_MAX)), 'exists' => fn() => f()->exists('a'), 'addMany' => fn() => f()->addMany(['y', 'z']), 'many' => fn() => f()->existMany(urls(3000)),
    'count' => fn() => count(f()), 'clear' => fn() => f()->clear(), 'clone' => fn() => clone f(), 'bitset' => fn() => f()->bitset, 'isset' => fn() => empty(f()->bitset),
    'merge' => fn() => f()->merge($memory), 'merged' => fn() => (clone $memory)->merge(f()), 'union' => fn() => f()->union($memory), 'equals' => fn() => f()->equals($memory)];
foreach ($outer as $name => $call) {
    foreach ($inner as $way => $inside) {
        $f = new BloomFilter(n: 1000, p: 0.01, storage: $r, key: 'f');
        $f->clear();
        $f->add('a');
        $said = '';
        $r->do = function () use ($inside, &$said) { try { $inside(); $said = 'nothing'; } catch (BloomFilterException $e) { $said = $e->getMessage(); } };
        $call();
        same(true, str_contains($said, 'in use'), "$name / $way: $said");
        if ($name !== 'clear') same(true, $f->exists('a'), "$name / $way");
        $f->close();
    }
    $f = new BloomFilter(n: 1000, p: 0.01, storage: $r, key: 'f');
    $r->do = function () { $GLOBALS['f'] = null; };
    $call();
    same(null, $f, "$name, the last reference");
}

/* What is not caught there: a read is asked once more, an add says that it is not known. */
$f = new BloomFilter(n: 1000, p: 0.01, storage: $r, key: 'f');
$f->add('a');
$r->do = fn() => f()->close();
same(true, $f->exists('a'));
$r->do = fn() => throw new DomainException('mine');
try { $f->add('b'); echo "added\n"; } catch (BloomFilterException $e) { same('mine', $e->getPrevious()?->getMessage()); }
$other = new BloomFilter(n: 1000, p: 0.01, storage: client($server), key: 'other');
$other->add('b');
foreach ([fn() => $f->merge($other), fn() => $other->merge($f), fn() => $other->equals($f), fn() => $f->isSubsetOf($other), fn() => $f->unionCount($other), fn() => $f->union($other), fn() => $f->intersect($other)] as $i => $call) {
    $said = '';
    $r->do = function () use ($other, &$said) { try { $other->close(); $said = 'closed'; } catch (BloomFilterException $e) { $said = $e->getMessage(); } };
    $call();
    same(true, str_contains($said, 'in use'), "$i: $said");
}

/* In the constructor; and the end of a client. */
$g = (new ReflectionClass('BloomFilter'))->newInstanceWithoutConstructor();
$r->do = fn() => $g->__construct(100, 10);
refused('Error', 'already constructed', fn() => $g->__construct(n: 1000, p: 0.01, storage: $r, key: 'f'));
same([100, true], [$g->m, $g->add('a')]);
$c = client($server);
$c->last = function () use (&$g) { refused('BloomFilterException', 'closed', fn() => $g->exists('a')); echo "client gone\n"; };
$g = new BloomFilter(n: 1000, p: 0.01, storage: $c, key: 'f');
$c = null;
$g->close();
echo "done\n";
--EXPECT--
client gone
done
