--TEST--
A filter that forgets, with parts of a time that no clock has: refused by fromBytes, unserialize, load and open
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$dir = folder();
function live_word(int $v): string { $v &= (1 << 48) - 1; return substr(pack('P', $v), 0, 6) . pack('v', ~($v ^ $v >> 16 ^ $v >> 32) & 0xFFFF); }
$f = new BloomFilter(n: 1000, p: 0.01, window: 3600.0);
$f->add('a');
foreach ([-(1 << 47), 0, 1 << 45] as $whole)
    foreach ([1 << 45, (1 << 46) + 5, (1 << 47) - 1] as $part) {
        $b = $f->toBytes();
        for ($at = 0; $at < strlen($b); $at += 4096 + ($at ? unpack('P', $b, $at + 64)[1] : 0))
            for ($i = 0, $w = live_word($at ? $part : $whole); $i < 8; $i++) $b[$at + 2080 + $i] = $w[$i];
        file_put_contents("$dir/w.bloom", $b);
        refused('BloomFilterException', 'is damaged', fn() => BloomFilter::fromBytes($b));
        refused('BloomFilterException', 'is damaged', fn() => unserialize('O:11:"BloomFilter":1:{s:5:"bytes";s:' . strlen($b) . ':"' . $b . '";}'));
        refused('BloomFilterException', 'is damaged', fn() => BloomFilter::load("$dir/w.bloom"));
        refused('BloomFilterException', 'is damaged', fn() => BloomFilter::open("$dir/w.bloom"));
    }
echo "done\n";
?>
--EXPECT--
done
