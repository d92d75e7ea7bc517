--TEST--
A generator is read in chunks, never as a whole
--FILE--
<?php require __DIR__ . '/helpers.inc';
$f = new BloomFilter(n: 1_000_000, p: 0.01);
$ahead = 0;
$keys = function () use ($f, &$ahead) {
    for ($i = 0; $i < 200_000; $i++) {
        if ($i >= 256 && !$f->exists('key number ' . $i - 256)) $ahead++;
        yield "key number $i";
    }
};
$before = memory_get_peak_usage();
$new = $f->addMany($keys());
same(0, $ahead, 'keys read more than 256 ahead');
same(true, $new > 199_000 && $new <= 200_000, "$new new");
same(true, memory_get_peak_usage() - $before < 200_000, 'memory of the keys');
--EXPECT--
