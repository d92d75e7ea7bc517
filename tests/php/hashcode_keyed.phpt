--TEST--
With a secret the positions come from SipHash-2-4 under it
--EXTENSIONS--
sodium
--FILE--
<?php require __DIR__ . '/helpers.inc';
$secret = str_repeat("\x07\xa0", 8);
foreach (['classic', 'block', 'block2'] as $scheme) {
    $f = new BloomFilter(m: 51_200, k: 6, scheme: $scheme, secret: $secret);
    foreach (['', 'a', 'https://www.example.org/'] as $key)
        same(expected_positions($f, unpack('P', sodium_crypto_shorthash($key, $secret))[1]), $f->hashcode($key), "$scheme $key");
}
--EXPECT--
