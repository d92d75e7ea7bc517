--TEST--
counting filters that grow: add, remove and countOf work in the oldest part that has the key
--INI--
bloomfilter.warn=0
--FILE--
<?php require __DIR__ . '/helpers.inc';
$path = folder() . '/counted.bloom';
foreach (is_extension() ? [[], ['storage' => $path]] : [[]] as $place)
    foreach ([1.0, 2.0, 1024.0] as $grow) {
        $f = new CountingBloomFilter(...[...$place, 'n' => 40, 'p' => 1e-9, 'grow' => $grow]);
        $exact = array_fill(0, 300, 0);
        mt_srand(7);
        $wrong = 0;
        for ($s = 0; $s < 3000; $s++) {
            $i = mt_rand(0, 299);
            if (mt_rand(0, 9) < 6) {
                $wrong += $f->add("k$i") !== ($exact[$i] === 0);
                $exact[$i] = min(15, $exact[$i] + 1);
            } else {
                $wrong += $f->remove("k$i") !== ($exact[$i] > 0);
                if ($exact[$i] < 15) $exact[$i] = max(0, $exact[$i] - 1);
            }
            $wrong += $f->countOf("k$i") !== $exact[$i];
        }
        same(0, $wrong);
        same(true, count($f->info()['parts']) > 1);
        $again = CountingBloomFilter::fromBytes($f->toBytes());
        same(true, $again->equals($f));
        same($exact[7], $again->countOf('k7'));
        $plain = $f->toPlain();
        same([BloomFilter::class, $grow], [get_class($plain), $plain->grow]);
        same(true, $plain->exists('k7') === $exact[7] > 0);
        refused('ValueError', 'filters that count and grow cannot be united', fn() => $f->union($again));
        $f->close();
        if ($place) unlink($path);
    }
same(1000, (new BloomFilter(10000, 1000, grow: 2.0))->n);
refused('ValueError', 'grow must be a factor from 1 to 1024', fn() => new CountingBloomFilter(n: 9, p: 0.1, grow: 0.5));
echo "ok\n";
--EXPECT--
ok
