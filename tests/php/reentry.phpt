--TEST--
A clock, a hash function or a client that uses, closes, copies or drops the filter that calls it, or waits in a Fiber: refused meanwhile, and the call goes on
--SKIPIF--
<?php if (!extension_loaded('redis')) die('skip phpredis is not loaded');
--FILE--
<?php require __DIR__ . '/reentry.inc';
$server = new RedisServer;
function f(): BloomFilter { return $GLOBALS['f']; }
function other(): BloomFilter { return $GLOBALS['other']; }
$batch = urls(200);
$inner = ['close' => fn() => f()->close(), 'add' => fn() => f()->add('x'), 'exists' => fn() => f()->exists('x'), 'addMany' => fn() => f()->addMany(['x']), 'existMany' => fn() => f()->existMany(['x']),
    'addNew' => fn() => f()->addNew(['x']), 'count' => fn() => count(f()), 'clear' => fn() => f()->clear(), 'clone' => fn() => clone f(), 'merge' => fn() => f()->merge(other()),
    'merged' => fn() => other()->merge(f()), 'self' => fn() => f()->merge(f()), 'union' => fn() => f()->union(other()), 'united' => fn() => other()->union(f()), 'equals' => fn() => f()->equals(other()),
    'equal' => fn() => other()->equals(f()), 'bytes' => fn() => f()->toBytes(), 'bitset' => fn() => f()->bitset, 'save' => fn() => f()->save('/nonexistent/folder/x')];
$keys = ['add' => fn() => f()->add('y'), 'exists' => fn() => f()->exists('a'), 'addMany' => fn() => f()->addMany($batch), 'existMany' => fn() => f()->existMany(['a', 'none']),
    'addNew' => fn() => f()->addNew($batch)];
$whole = ['count' => fn() => count(f()), 'merge' => fn() => f()->merge(other()), 'equals' => fn() => f()->equals(other()), 'equal' => fn() => other()->equals(f())];
$outer = ['clock' => $keys + $whole + ['hashcode' => fn() => f()->hashcode('a'), 'info' => fn() => f()->info()], 'hashes' => $keys + ['hashcode' => fn() => f()->hashcode('a')]];
$outer['phpredis'] = $outer['Predis'] = $keys + $whole + ['clear' => fn() => f()->expire(null), 'clone' => fn() => clone f(), 'bitset' => fn() => f()->bitset, 'empty' => fn() => empty(f()->bitset)];
/* What is freed is written over: else nobody would notice. */
function drop(): void { $GLOBALS['f'] = null; $GLOBALS['over'] = array_map(fn($i) => str_repeat(chr($i), 8 + 8 * ($i % 32)), range(0, 255)); }

foreach ($outer as $place => $calls) {
    [$make, $plain] = inside($place, $server->port);
    foreach ($calls as $name => $call) {
        $new = function () use ($make, $plain) { [$GLOBALS['f'], $GLOBALS['other']] = [$make(), $plain()]; f()->add('a'); };
        $new();
        $right = $call();
        foreach ($inner as $way => $do) {
            $new();
            $said = null;
            Inside::$do = function () use ($do, &$said) { try { $do(); $said = 'nothing'; } catch (BloomFilterException $e) { $said = [$e->getCode(), str_contains($e->getMessage(), 'in use')]; } };
            $answer = $call();
            if (!is_object($answer)) same($right, $answer, "$place, $name / $way");
            same([BloomFilterException::BUSY, true], $said, "$place, $name / $way");
            same([true, false], f()->existMany(['a', 'none']), "$place, $name / $way");
        }
        if (in_array($name, ['merge', 'equals', 'equal'])) {
            $new();
            Inside::$do = fn() => refused('BloomFilterException', 'in use', fn() => other()->close());
            $call();
            same([null, false], [Inside::$do, other()->exists('none')], "$place, $name, the other operand");
        }
        $new();
        Inside::$do = drop(...);
        $call();
        same(null, $f, "$place, $name, the last reference");

        # another one may be used; a Fiber waits, and goes on, is thrown into, or never comes back
        foreach (['resume', 'throw', 'destroy'] as $end) {
            $new();
            $twin = $plain();
            Inside::$do = fn() => Fiber::suspend();
            $one = new Fiber($call);
            $one->start();
            same(true, $one->isSuspended(), "$place, $name");
            foreach ([fn() => f()->exists('a'), fn() => f()->close(), fn() => clone f(), $call] as $do) {
                refused('BloomFilterException', 'in use', $do);
                $two = new Fiber(fn() => refused('BloomFilterException', 'in use', $do));
                $two->start();
                same(true, $two->isTerminated(), "$place, $name");
            }
            if (!in_array($name, ['merge', 'equals', 'equal'])) same([true, true, false], [$twin->add('o'), $twin->exists('o'), $twin->exists('a')], "$place, $name");
            if ($end === 'resume') { $one->resume(); if (!is_object($right)) same($right, $one->getReturn(), "$place, $name"); }
            if ($end === 'throw')
                try {
                    $one->throw(new DomainException('thrown in'));
                    same(true, $place === 'phpredis' || $place === 'Predis', 'only a client is asked again');
                } catch (DomainException | BloomFilterException $e) {
                    same('thrown in', ($e->getPrevious() ?? $e)->getMessage());
                }
            $one = null;
            same([true, true, true], [f()->exists('a'), f()->add('z'), f()->exists('z')], "$place, $name $end");
            if (in_array($name, ['addMany', 'addNew'])) { f()->addMany($batch); same(200, array_sum(f()->existMany($batch)), "$place, $name $end"); }
            f()->close();
        }
    }
    /* A method of a variable that PHP does not hold for the call. */
    foreach (['add' => 'a', 'exists' => 'a', 'hashcode' => 'a', 'addMany' => ['a', 'b'], 'existMany' => ['a', 'b'], 'rebuild' => ['a'], 'count' => null, 'clear' => null, 'toBytes' => null] as $method => $argument) {
        $f = $make();
        Inside::$do = drop(...);
        try { call_user_func_array([&$f, $method], $argument === null ? [] : [$argument]); } catch (BloomFilterException $e) { same('rebuild', $method); }
        Inside::$do = null;
    }
}

/* A client that waits in a Fiber, before or after Redis has the command, and other filters on its connection: right answers or exceptions, now and afterwards. */
$in = urls(150);
foreach (['phpredis', 'Predis', 'connection'] as $place) {
    [$make] = inside($place, $server->port);
    [$f, $answered, $refused] = [$make(), 0, 0];
    $g = new BloomFilter(n: 10_000, p: 1e-9, storage: $client = client_at($place), key: 'beside');
    $g->clear();
    $g->addMany(['g', ...$in]);
    $others = [[fn() => $g->exists('g'), true], [fn() => $g->exists('none'), false], [fn() => $g->existMany(['g', 'none']), [true, false]], [fn() => $g->add('g'), false],
        [fn() => BloomFilter::open($client, key: 'beside')->exists('g'), true], [fn() => $g->union($g)->exists('g'), true]];
    foreach ([[fn() => $f->existMany([...$in, 'a']), [...array_fill(0, 150, true), false]], [fn() => $f->exists('a'), false], [fn() => $f->addMany(['one', 'two']), 2], [fn() => $f->add('new'), true]] as [$call, $right])
        foreach (['before', 'after'] as Inside::$when) foreach (['resume', 'throw', 'destroy'] as $end) {
            $f->clear();
            $f->addMany($in);
            Inside::$do = fn() => Fiber::suspend();
            $one = new Fiber($call);
            $one->start();
            same(true, $one->isSuspended(), $place);
            foreach ($others as [$do, $expected])
                foreach ([$do, fn() => (new Fiber(function () use ($do, &$answer) { $answer = $do(); }))->start() ?? $answer] as $do) {
                    try { same($expected, $do(), "$place, beside"); $answered++; }
                    catch (BloomFilterException $e) { same(true, in_array($e->getCode(), [BloomFilterException::IO, BloomFilterException::BUSY]), (string)$e); $refused++; }
                }
            $said = null;
            try {
                if ($end === 'throw') $one->throw(new DomainException('thrown in'));
                while ($end !== 'destroy' && !$one->isTerminated()) $one->resume();
            } catch (DomainException | BloomFilterException $e) { $said = $e; }
            if ($end === 'resume') same($right, $said ?? $one->getReturn(), $place);
            $one = null;
            same([true, false, true, false], [...$f->existMany([$in[0], 'none']), $g->exists('g'), $g->exists('none')], "$place, $end");
            same('value', $client->set('k', 'value') ? $client->get('k') : null, "$place, $end");
        }
    # a connection that waits for a reply answers nobody, nor does a pipeline
    same([$place !== 'connection', $place !== 'Predis'], [$answered > 0, $refused > 0], "$place: $answered answered, $refused refused");
}

/* Two filters, two Fibers, and they end in the order in which they began. */
[$make] = inside('clock', 0);
[$f, $g] = [$make(), $make()];
foreach ([$f, $g] as $one) $one->add('a');
Inside::$do = fn() => Fiber::suspend();
$one = new Fiber(fn() => $f->exists('a'));
$one->start();
Inside::$do = fn() => Fiber::suspend();
$two = new Fiber(fn() => $g->exists('a'));
$two->start();
$one->resume();
same([true, true], [$one->getReturn(), $f->exists('a')]);
foreach ([fn() => $g->exists('a'), fn() => $f->merge($g)] as $call) refused('BloomFilterException', 'in use', $call);
$two->resume();
same([true, true], [$two->getReturn(), $g->exists('a')]);
Inside::$do = fn() => $f->__construct(n: 10, p: 0.1);
refused('Error', 'already constructed', fn() => $f->add('b'));

/* What a client does not catch: a read is asked once more, an add says that it is not known; in the constructor; and the end of a client. */
class Last extends InsideRedis { public $last; public function __destruct() { ($this->last)(); } }
$client = new Last;
$client->connect('127.0.0.1', $server->port, 5);
$client->last = function () use (&$g) { refused('BloomFilterException', 'closed', fn() => $g->exists('a')); echo "client gone\n"; };
$f = new BloomFilter(n: 1000, p: 0.01, storage: $client, key: 'g');
$f->add('a');
Inside::$do = fn() => $f->close();
same(true, $f->exists('a'));
Inside::$do = fn() => throw new DomainException('mine');
try { $f->add('b'); echo "added\n"; } catch (BloomFilterException $e) { same('mine', $e->getPrevious()?->getMessage()); }
$f->close();
$e = null;
$g = (new ReflectionClass('BloomFilter'))->newInstanceWithoutConstructor();
Inside::$do = fn() => $g->__construct(100, 10);
refused('Error', 'already constructed', fn() => $g->__construct(n: 1000, p: 0.01, storage: $client, key: 'g'));
same([100, true], [$g->m, $g->add('a')]);
$g = new BloomFilter(n: 1000, p: 0.01, storage: $client, key: 'g');
$client = null;
$g->close();
echo "done\n";
--EXPECT--
client gone
done
