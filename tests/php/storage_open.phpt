--TEST--
What is stored is opened without its parameters
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
foreach ([['m' => 1000, 'n' => 100], ['m' => 12345, 'k' => 3], ['n' => 500, 'p' => 0.02], ['n' => 500, 'p' => 1e-5], ['m' => 1, 'k' => 1],
          ['n' => 500, 'p' => 0.02, 'scheme' => 'classic'], ['n' => 500, 'p' => 0.02, 'k' => 3]] as $i => $arguments) {
    $path = "$dir/$i.bloom";
    $f = new BloomFilter(...$arguments, storage: $path);
    $f->addMany(urls(20));
    foreach ([fn() => BloomFilter::open($path), fn() => new BloomFilter(storage: $path), fn() => new BloomFilter(...$arguments, storage: $path),
              fn() => BloomFilter::open($path, readOnly: true), fn() => BloomFilter::load($path)] as $open) {
        $g = $open();
        same([$f->m, $f->n, $f->k, $f->p, $f->scheme, $f->bitset], [$g->m, $g->n, $g->k, $g->p, $g->scheme, $g->bitset]);
        same(true, $f->equals($g));
    }
}
class Seen extends BloomFilter { public string $note = 'mine'; }
$seen = Seen::open("$dir/0.bloom");
same(['Seen', 'mine', true], [get_class($seen), $seen->note, $seen->exists(urls(1)[0])]);
abstract class Nothing extends BloomFilter {}
refused('Error', 'abstract', fn() => Nothing::open("$dir/0.bloom"));
--EXPECT--
