--TEST--
A directory, FIFO, device or socket is an exception that says so
--EXTENSIONS--
bloomfilter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$dir = folder();
mkdir("$dir/folder");
exec('mkfifo ' . escapeshellarg("$dir/fifo"));
$socket = stream_socket_server("unix://$dir/socket");
foreach (['folder' => 'directory', 'fifo' => 'FIFO', 'socket' => ''] as $name => $part)
    foreach ([fn() => BloomFilter::open("$dir/$name"), fn() => BloomFilter::open("$dir/$name", readOnly: true), fn() => new BloomFilter(n: 10, p: 0.1, storage: "$dir/$name")] as $call) {
        refused('BloomFilterException', "$dir/$name", $call);
        refused('BloomFilterException', $part, $call);
    }
foreach (['/dev/null', '/dev/zero'] as $device) refused('BloomFilterException', $device, fn() => BloomFilter::open($device));
refused('BloomFilterException', "$dir/folder/", fn() => new BloomFilter(n: 10, p: 0.1, storage: "$dir/folder/"));
same(['fifo', 'folder', 'socket'], names_in($dir));
echo "done\n";
?>
--EXPECT--
done
