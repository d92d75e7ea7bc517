--TEST--
php-mt and php-mt-legacy draw what this PHP's own mt_rand() draws
--SKIPIF--
<?php if (PHP_VERSION_ID < 80200) die('skip m above 2^32 is drawn as PHP 8.2 does'); ?>
--FILE--
<?php require __DIR__ . '/helpers.inc';
$keys = ['', "\0", ...urls(70)];
foreach ([1, 2, 10, 1000, 65536, 152790, 2**31 - 1, 2**31 + 1, 3 * 10**9, 2**32 - 1, 2**32, 2**32 + 1, 5 * 10**9] as $m)
    foreach (['php-mt' => MT_RAND_MT19937, 'php-mt-legacy' => @constant('MT_RAND_PHP')] as $scheme => $mode)
        foreach ([7, $m === 1000 ? 1300 : 3] as $k) {
            $f = new BloomFilter(m: $m, k: $k, scheme: $scheme);
            foreach ($keys as $key) {
                @mt_srand(crc32($key), $mode);
                $expected = [];
                for ($j = 0; $j < $k; $j++) $expected[] = mt_rand(0, $m - 1);
                same($expected, $f->hashcode($key), "$scheme m=$m k=$k key $key");
            }
        }
$f = new BloomFilter(m: 3 * 10**9, k: 7, scheme: 'php-mt');  /* a quarter of all draws is drawn again: batches must follow */
$g = new BloomFilter(m: 3 * 10**9, k: 7, scheme: 'php-mt');
$f->addMany($keys);
foreach ($keys as $key) $g->add($key);
same([true], array_unique($g->existMany($keys)));
same([true], array_unique($f->existMany($keys)));
same(0, $f->addMany($keys));
--EXPECT--
