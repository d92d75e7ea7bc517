--TEST--
A filter with a storage is a file that has the bits of memory: opened again here and in another process, united, copied, cleared, saved
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
$some = urls(3000);
foreach ([['m' => 12345, 'k' => 3], ['n' => 5000, 'p' => 0.01, 'secret' => str_repeat('s', 16)]] as $i => $arguments) {
    [$path, $secret] = ["$dir/$i.bloom", $arguments['secret'] ?? null];
    [$f, $memory] = [new BloomFilter(...$arguments, storage: $path, overfull: 'ignore'), new BloomFilter(...$arguments, overfull: 'ignore')];
    same_answers($f, $memory, $some, $path);
    same([$memory->hashcode('a'), $memory->fpr(), $memory->fillRatio()], [$f->hashcode('a'), $f->fpr(), $f->fillRatio()]);
    foreach ([fn() => BloomFilter::open($path, $secret), fn() => new BloomFilter(storage: $path, secret: $secret), fn() => new BloomFilter(...$arguments, storage: $path),
              fn() => BloomFilter::open($path, $secret, readOnly: true), fn() => BloomFilter::load($path, $secret)] as $open) {
        $g = $open();
        same([$f->m, $f->n, $f->k, $f->p, $f->scheme, true], [$g->m, $g->n, $g->k, $g->p, $g->scheme, $memory->equals($g)]);
    }
    $f->save("$path.saved");
    same([true, saved($memory)], [BloomFilter::open("$path.saved", $secret)->equals($memory), file_get_contents("$path.saved")]);
}
class Seen extends BloomFilter { public string $note = 'mine'; }
$seen = Seen::open("$dir/0.bloom");
same(['Seen', 'mine', true], [get_class($seen), $seen->note, $seen->exists('one')]);
abstract class Nothing extends BloomFilter {}
refused('Error', 'abstract', fn() => Nothing::open("$dir/0.bloom"));

# objects of one file see each other's keys, also in another process, and close apart
$path = "$dir/a";
$f = new BloomFilter(n: 1000, p: 0.01, storage: $path);
[$g, $h] = [BloomFilter::open($path), BloomFilter::open($path, readOnly: true)];
same('111000', in_other_php('$f = BloomFilter::open(' . var_export($path, true) . '); echo (int)!$f->exists("one"), $f->add("one"), $f->n;'));
same([true, true], [$f->add('by f'), $g->add('by g')]);
same([true, true, true, true, true], [$g->exists('by f'), $f->exists('by g'), $h->exists('by f'), $h->exists('by g'), $h->exists('one')]);
for ($i = 0; $i < 1000; $i++) $many[] = BloomFilter::open($path);
$g->close();
foreach ([fn() => $g->add('b'), fn() => $g->sync(), fn() => $g->bitset, fn() => $f->equals($g), fn() => clone $g, fn() => serialize($g)] as $call) refused('BloomFilterException', 'closed', $call);
same([1000, 0.01], [$g->n, $g->p]);
foreach ($many as $i => $one) $i % 2 ? $one->close() : $one->add("key $i");
same(500, array_sum($f->existMany(array_map(fn($i) => "key $i", range(0, 998, 2)))));
same([null, null, substr(file_get_contents($path), 4096)], [$f->sync(), $h->sync(), $f->bitset]);

# results and copies are in memory, the files stay as they are
$b = new BloomFilter(n: 1000, p: 0.01, storage: "$dir/b");
$b->addMany(['by g', 'by b']);
$before = [sha1_file($path), sha1_file("$dir/b")];
$copy = clone $f;
foreach ([$f->union($b), $b->union($copy), $copy->union($b)] as $union) same([true, true, true, ['bytes']], [$union->exists('by b'), $union->exists('by f'), $union->add('mine'), array_keys($union->__serialize())]);
same([true, false, true], [$f->intersect($b)->exists('by g'), $copy->intersect($b)->exists('by f'), $copy->add('mine')]);
same([false, true, $before], [$f->exists('mine'), $f->equals(clone $f), [sha1_file($path), sha1_file("$dir/b")]]);
same([null, 0, 0], [$f->clear(), count($f), array_sum($many[0]->existMany(['by f', 'one']))]);
same('0', in_other_php('echo count(BloomFilter::open(' . var_export($path, true) . '));'));
$f->close();
unlink($path);
same(true, $copy->exists('by f'));

# a file that is open is not saved over
$f = new BloomFilter(n: 10000, p: 0.01);
$f->addMany(urls(1000));
$f->save($path);
$bytes = file_get_contents($path);
$g = BloomFilter::open($path);
same([1000, $bytes], [array_sum($g->existMany(urls(1000))), file_get_contents($path)], 'reading writes nothing');
same(true, $g->add('more'));
refused('BloomFilterException', 'open for writing in this process: save elsewhere and rename, or close it', fn() => $g->save($path));
$copy = clone $g;
$g->close(); # its file stays open in this worker, for nobody
$copy->save($path);
same([true, $copy->toBytes()], [BloomFilter::open($path)->exists('more'), file_get_contents($path)]);
--EXPECT--
