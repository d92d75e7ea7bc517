<?php
/* disk.php - full and read-only disks.
 *   DISK full          DISK: an empty file system of 1 MiB
 *   DISK read-only     the same one afterwards, mounted read-only */
require __DIR__ . '/checks.inc';
[, $disk, $state] = $argv;

function full(string $disk): void
{
    $names = fn() => array_values(array_diff(scandir($disk), ['.', '..']));
    $big = ['n' => 10_000_000, 'p' => 0.01];
    says('No space left on device', fn() => new BloomFilter(...$big, storage: "$disk/big"), 'a file too large for the disk is an exception');
    check($names() === [], 'and leaves nothing');
    $memory = new BloomFilter(...$big);
    says('No space left on device', fn() => $memory->save("$disk/saved"), 'so is saving');
    check($names() === [], 'and leaves nothing');
    $f = new BloomFilter(n: 400_000, p: 0.01, storage: "$disk/fits");
    $g = new BloomFilter(n: 1000, p: 0.01);
    $g->add('old');
    $g->save("$disk/saved");
    @file_put_contents("$disk/filler", str_repeat('x', 2 << 20));
    check(@file_put_contents("$disk/more", str_repeat('x', 8192)) !== 8192, 'the disk is full');
    $keys = array_map(fn($i) => "key $i", range(0, 399_999));
    check($f->addMany($keys) > 390_000 && array_sum($f->existMany($keys)) === 400_000, 'a filter that is there takes all its keys on a full disk');
    $f->sync();
    check(BloomFilter::open("$disk/fits")->exists('key 5'), 'and syncs');
    says('No space left on device', fn() => (new BloomFilter(n: 10_000, p: 0.01))->save("$disk/saved"), 'saving over a file on a full disk is an exception');
    check(BloomFilter::load("$disk/saved")->exists('old') && !preg_grep('~tmp~', $names()), 'and the file stays as it was');
    says('No space left on device', fn() => new BloomFilter(n: 100_000, p: 0.01, storage: "$disk/another"), 'and so is making one');
}

function read_only(string $disk): void
{
    $before = sha1_file("$disk/fits");
    $f = BloomFilter::open("$disk/fits");
    check($f->exists('key 5'), 'on a read-only disk a filter is read');
    says('read-only', fn() => $f->add('new'), 'adding to it is an exception');
    says('Read-only file system', fn() => new BloomFilter(n: 10, p: 0.1, storage: "$disk/new"), 'and so is making one');
    says('Read-only file system', fn() => $f->save("$disk/saved"), 'and saving');
    check(sha1_file("$disk/fits") === $before, 'and nothing changed');
}

if ($state === 'full') full($disk);
else read_only($disk);
