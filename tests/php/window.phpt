--TEST--
A filter that forgets remembers a key at least for the window and at most a part longer
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
foreach ([null, "$dir/w.bloom"] as $storage)
    foreach ([1, 3, 4] as $parts) {
        $now = 1e9;
        $clock = function () use (&$now) { return $now; };
        $f = new BloomFilter(n: 200, p: 1e-6, window: 60, parts: $parts, storage: $storage, clock: $clock);
        same([60.0, $parts, null], [$f->window, $f->parts, $f->grow]);
        $added = [];
        mt_srand(5);
        for ($i = 0; $i < 2000; $i++) {
            $key = 'k' . mt_rand(0, 199);
            $age = $now - ($added[$key] ?? -1e9);
            $there = $f->exists($key);
            if ($age <= 60) same(true, $there, "age $age");
            if ($age >= 60 * (1 + 1 / $parts)) same(false, $there, "age $age");
            if (mt_rand(0, 1)) {
                same(!$there, $f->add($key));
                $added[$key] = $now;
            }
            $now += mt_rand(0, 2000) / 1000;
            if (mt_rand(0, 200) === 0) $now += mt_rand(0, 100);
        }
        same($parts + 1, count($f->partInfo()));
        $f->close();
        if ($storage) unlink($storage);
    }
$f = new BloomFilter(n: 100, p: 0.01, window: 3600);
same([4, true, false, true], [$f->parts, $f->add('x'), $f->add('x'), $f->exists('x')]);
same(true, unserialize(serialize($f))->equals($f));
--EXPECT--
