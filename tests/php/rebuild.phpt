--TEST--
rebuild() in memory and in files: the bits of a new filter, for everybody; what is added meanwhile is kept; nothing changed where it failed
--FILE--
<?php require __DIR__ . '/helpers.inc';
$folder = folder();
$keys = fn(int $from, int $to) => array_map(fn($i) => "k$i", range($from, $to - 1));
foreach ([['BloomFilter', []], ['BloomFilter', ['scheme' => 'classic', 'shards' => 3]], ['CountingBloomFilter', []]] as $i => [$class, $how]) {
    foreach (is_extension() ? [null, "$folder/$i.bloom"] : [null] as $path) {
        $new = function () use ($class, $how, $keys) {
            $f = new $class(...$how, n: 2000, p: 0.001);
            foreach (func_get_args() as [$from, $to]) $f->addMany($keys($from, $to));
            return $f;
        };
        $f = $path ? new $class(...$how, n: 2000, p: 0.001, storage: $path) : $new();
        $g = $path ? $class::open($path) : $f;
        $f->addMany($keys(0, 1000));
        same([1000, true], [$f->rebuild($keys(500, 1500)), $g->equals($new([500, 1500]))]);
        $rows = function () use ($g, $keys) {
            foreach ($keys(0, 50) as $i => $key) {
                if ($i === 7) $g->addMany($keys(3000, 3100));
                if ($i === 8) same([true, true, false], [$g->exists('k600'), $g->exists('k3000'), $g->exists('k3')]);     # used as ever
                yield $key;
            }
        };
        same([50, true], [$f->rebuild($rows()), $g->equals($new([0, 50], [3000, 3100]))]);
        $stops = function () use ($f) { yield 'c'; $f->add('k50'); throw new LogicException('stop'); };
        refused('LogicException', 'stop', fn() => $f->rebuild($stops()));
        refused('TypeError', 'index 1', fn() => $f->rebuild(['b', 1.5]));
        refused('TypeError', 'Traversable|array, string given', fn() => $f->rebuild('a'));
        same(true, $g->equals($new([0, 51], [3000, 3100])));
        # what is merged is kept; a rebuild that begins meanwhile ends this one, also one that fails
        $during = function (callable $call) { yield 'one'; $call(); yield 'two'; };
        $merged = $new();
        $merged->add('merged');
        same(2, $f->rebuild($during(fn() => $f->merge($merged))));
        same([false, true, true, true], array_values($g->existMany(['k0', 'one', 'two', 'merged'])));
        if (!$path) {
            $fails = function () use ($f) { $f->add('within'); yield 'x'; throw new LogicException; };
            refused('BloomFilterException', 'this rebuild is over', fn() => $f->rebuild($during(fn() => $f->rebuild(['inner']))));
            refused('BloomFilterException', 'this rebuild is over', fn() => $f->rebuild($during(function () use ($f, $fails) { try { $f->rebuild($fails()); } catch (LogicException) {} })));
            same([true, true, false, false], array_values($f->existMany(['inner', 'within', 'one', 'x'])));
        }
        if ($path) {
            same(strlen(saved($f)), filesize($path));     # no draft is left
            $other = fn() => in_other_php("try { echo $class::open('$path')->rebuild(['x']); } catch (BloomFilterException \$e) { echo \$e->getMessage(); }");
            $asks = function () use ($other, &$said) { yield 'k1'; $said = $other(); };
            same(1, $f->rebuild($asks()));
            same(true, str_contains($said, 'is being rebuilt by another process or handle'), $said);
            same(['1', true, false], [$other(), $g->exists('x'), $g->exists('k1')]);
            $closes = function () use (&$h) { yield 'd'; $h->close(); };
            $h = $class::open($path);
            refused('BloomFilterException', 'closed', fn() => $h->rebuild($closes()));
            same('1', $other());     # the one that was closed is given up
            refused('BloomFilterException', 'read-only', fn() => $class::open($path, readOnly: true)->rebuild(['e']));
        }
        same([0, 0], [$f->rebuild([]), $g->count()]);
    }
}
refused('BloomFilterException', 'grows: it cannot be rebuilt outside of Redis', fn() => (new BloomFilter(n: 10, p: 0.1, grow: 2.0))->rebuild(['a']));
if (is_extension()) refused('BloomFilterException', 'forgets: it cannot be rebuilt', fn() => (new BloomFilter(n: 10, p: 0.1, window: 60))->rebuild(['a']));
--EXPECT--
