--TEST--
A serialized filter on a file has its path; unserialize() opens no file and no connection that the string names, unless bloomfilter.unserialize_storage=1
--FILE--
<?php require __DIR__ . '/helpers.inc';
$dir = folder();
$server = stream_socket_server('tcp://127.0.0.1:0');
$at = stream_socket_get_name($server, false);
function text(string $storage, string $class = 'BloomFilter', string $more = ''): string
{
    return 'O:' . strlen($class) . ":\"$class\":" . (1 + substr_count($more, ';') / 2) . ':{s:7:"storage";s:' . strlen($storage) . ":\"$storage\";$more}";
}
function said(callable $call): string
{
    try { $call(); return 'nothing'; } catch (Throwable $e) { return get_class($e) . ' ' . $e->getCode() . ' ' . $e->getMessage(); }
}
(new BloomFilter(n: 10, p: 0.1, storage: "$dir/there"))->add('a');
$before = names_in($dir);
$heard = [];
foreach (["$dir/there", "$dir/not", $dir, '/etc/shadow', '/dev/null', '', "redis://:secret@$at/?key=x&timeout=0.5", "unix://$dir/socket?key=x", 'rediss://nowhere.invalid/?key=x'] as $storage) {
    foreach (['BloomFilter', 'CountingBloomFilter'] as $class) {
        $heard[] = said(fn() => unserialize(text($storage, $class)));
        $heard[] = said(fn() => unserialize(text($storage, $class, 's:3:"key";s:1:"k";')));
        $heard[] = said(fn() => unserialize(text($storage, $class, 's:8:"readOnly";b:1;')));
        $heard[] = said(fn() => (new ReflectionClass($class))->newInstanceWithoutConstructor()->__unserialize(['storage' => $storage]));
    }
}
same(1, count(array_unique($heard)));
same(true, str_starts_with($heard[0], 'BloomFilterException ' . BloomFilterException::NOT_SUPPORTED) && str_contains($heard[0], 'bloomfilter.unserialize_storage=1'), $heard[0]);
same(false, @stream_socket_accept($server, 0));
same([$before, '0'], [names_in($dir), ini_get('bloomfilter.unserialize_storage')]);
same(true, unserialize(serialize(BloomFilter::load("$dir/there")))->exists('a'));

/* The program may allow it, for strings that it wrote itself. */
chdir($dir);
$f = BloomFilter::open('there');
$own = serialize($f);
same([['storage' => "$dir/there"], true], [$f->__serialize(), strlen($own) < 300]);
chdir('/');
ini_set('bloomfilter.unserialize_storage', '1');
$g = unserialize($own);
same([true, true, true, 10], [$g->exists('a'), $f->add('later'), $g->exists('later'), $g->n]);
$r = unserialize(serialize(BloomFilter::open("$dir/there", readOnly: true)));
same(true, $r->exists('later'));
refused('BloomFilterException', 'read-only', fn() => $r->add('no'));
class Noted extends BloomFilter { public $note = 'none'; }
$n = Noted::open("$dir/there");
$n->note = 'mine';
$n = unserialize(serialize($n));
same(['Noted', 'mine', true], [get_class($n), $n->note, $n->exists('later')]);
refused('ValueError', 'path', fn() => unserialize(text('')));
refused('BloomFilterException', 'No such file', fn() => unserialize(text("$dir/not")));
ini_restore('bloomfilter.unserialize_storage');
refused('BloomFilterException', 'unserialize_storage', fn() => unserialize($own));
same('11', in_other_php('$f = unserialize(' . var_export($own, true) . '); echo (int)$f->exists("a"), (int)$f->add("there");', '-d bloomfilter.unserialize_storage=1'));
same(true, $f->exists('there'));
--EXPECT--
