--TEST--
Files kept open: one that a clock closes, or makes go for lack of room, while another object uses it
--INI--
bloomfilter.max_maps=1
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
$todo = $said = null;
$clock = function () use (&$todo, &$said) {
    if ($call = $todo) {
        $todo = null;
        try { $call(); $said = 'nothing'; } catch (BloomFilterException $e) { $said = $e->getMessage(); }
    }
    return microtime(true);
};
$w = new BloomFilter(n: 1000, p: 0.01, window: 600, clock: $clock);
$w->add('w');
$ways = ['close' => fn() => $GLOBALS['a']->close(), 'twin' => fn() => $GLOBALS['b']->close(), 'room' => fn() => new BloomFilter(n: 10, p: 0.1, storage: "$dir/c"),
    'replaced' => function () use ($dir) { new_file("$dir/a", 'other'); try { BloomFilter::open("$dir/a"); } catch (BloomFilterException) {} },
    'all' => function () use ($dir) { $GLOBALS['b']->close(); for ($i = 0; $i < 5; $i++) new BloomFilter(n: 10, p: 0.1, storage: "$dir/d$i"); }];
foreach ($ways as $name => $way) {
    @unlink("$dir/a");
    $a = new BloomFilter(n: 1000, p: 0.01, window: 600, storage: "$dir/a");
    $b = BloomFilter::open("$dir/a");
    same(1, kept());
    $b->add("key of $name");
    [$todo, $said] = [$way, null];
    $w->merge($a);
    same([true, true], [$w->exists("key of $name"), in_array($name, ['close', 'twin', 'all']) ? str_contains($said, 'in use') : $said === 'nothing'], "$name: $said");
    same(true, $a->exists("key of $name"), $name);
    $name === 'replaced' ? refused('BloomFilterException', 'replaced or deleted', fn() => $a->close()) : $a->close();
    if ($name !== 'all') same(true, $b->exists("key of $name"), $name);
    $name === 'replaced' ? refused('BloomFilterException', 'replaced or deleted', fn() => $b->close()) : $b->close();
}
--EXPECT--
