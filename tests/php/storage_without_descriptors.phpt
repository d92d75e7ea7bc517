--TEST--
Without standard descriptors nothing that is printed ends in a filter; beyond a limit on file sizes comes an exception, not a signal
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
$said = in_other_php('
    ignore_user_abort(true);
    $report = fopen("php://fd/3", "w");
    $f = new BloomFilter(n: 100, p: 0.01, grow: 2.0, storage: "' . $dir . '/printed.bloom");
    echo str_repeat("printed", 2000);
    $f->add("a");
    $f->addMany(array_map("strval", range(1, 1000)));
    echo str_repeat("printed", 2000);
    fwrite($report, $f->exists("a") && $f->exists("1000") ? "found" : "lost");
', '', 'exec 3>&1 <&- >&- 2>&-;');
same('found', $said);
same(false, str_contains(file_get_contents("$dir/printed.bloom"), 'printed'));
$f = BloomFilter::open("$dir/printed.bloom");
same([true, 1000], [$f->exists('a'), array_sum($f->existMany(array_map('strval', range(1, 1000))))]);

# 128 blocks of 512 bytes; where the shell counts in KiB 128 of those
$said = in_other_php('
    if (function_exists("pcntl_signal")) pcntl_signal(SIGXFSZ, SIG_DFL);
    foreach ([fn() => new BloomFilter(n: 1_000_000, p: 0.01, storage: "' . $dir . '/large.bloom"),
              fn() => (new BloomFilter(n: 1_000_000, p: 0.01))->save("' . $dir . '/saved.bloom"),
              fn() => (new BloomFilter(n: 1000, p: 0.01, grow: 2.0, storage: "' . $dir . '/grows.bloom"))->addMany((function () { for ($i = 0; $i < 1_000_000; $i++) yield $i; })())] as $make) {
        try { $make(); echo "no exception\n"; } catch (BloomFilterException $e) { echo preg_replace("~/.*/~", "", $e->getMessage()), "\n"; }
    }
', '', 'ulimit -f 128;');
same("cannot allocate space for large.bloom: File too large\ncannot write saved.bloom: File too large\ncannot allocate space to grow in grows.bloom: File too large\n", $said);
same(['grows.bloom', 'printed.bloom'], names_in($dir));
same(true, BloomFilter::open("$dir/grows.bloom")->exists('1000'));
--EXPECT--
