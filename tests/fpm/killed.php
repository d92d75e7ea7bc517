<?php
/* killed.php - a writer that kill.php ends by kill -9, at any moment.
 *   MODE FILE NAME ACKNOWLEDGED    adds the keys "NAME:0", "NAME:1", ... and writes a 4-byte count to ACKNOWLEDGED after each
 *                                  (one), or after each batch of 100 (many), or makes new files (make)
 * What was written to a file before kill -9 is there after it, so a count that can be read was acknowledged. */
[, $mode, $path, $name, $acknowledged] = $argv;
$ack = fopen($acknowledged, 'w');
stream_set_write_buffer($ack, 0);

if ($mode === 'make') {
    for ($i = 1;; $i++) {
        (new BloomFilter(n: 20_000, p: 0.01, storage: "$path.$i"))->add($name);
        fwrite($ack, pack('V', $i));
    }
}
$f = BloomFilter::open($path);
for ($i = 0; $i < 20_000;) {
    if ($mode === 'one') $f->add("$name:" . $i++);
    else {
        $keys = [];
        for ($j = 0; $j < 100; $j++) $keys[] = "$name:" . $i++;
        $f->addMany($keys);
    }
    fwrite($ack, pack('V', $i));
}
sleep(60);
