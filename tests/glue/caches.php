<?php
/* caches.php - Gate, SimpleCache and CachePool over the caches of Symfony. */
require __DIR__ . '/glue.inc';
debian('Psr/SimpleCache', 'Psr/Cache', 'Symfony/Component/Cache');
use Bloomfilter\Glue\{Absent, CachePool, Gate, SimpleCache};
use Symfony\Component\Cache\Adapter\ArrayAdapter;
use Symfony\Component\Cache\Psr16Cache;

/** A filter that has these keys, and another one. */
function seen(string ...$keys): BloomFilter { $f = new BloomFilter(n: 1000, p: 1e-6); $f->addMany([...$keys, 'one more']); return BloomFilter::fromBytes($f->toBytes()); }

# trust: an absent key costs no query; a key that is there, or seems to be, is looked up
$db = new Database(['a' => 'Ada', 'b' => 'Bob']);
$gate = new Gate(seen('a', 'b', 'ghost'));
same(['Ada', null, null, 2], [$gate->ask('a', $db), $gate->ask('x', $db), $gate->ask('ghost', $db), $db->queries]);
same([3, 1, 0, 1, 0], [$gate->asked, $gate->absent, $gate->missing, $gate->falsePositive, $gate->failed]);
same([true, false], [$gate->mayHave('a'), $gate->mayHave('x')]);

# shadow: every key is looked up, and the disagreements are counted
$said = [];
$gate = new Gate(seen('a', 'ghost'), 'shadow', report: function (string $what, string $key) use (&$said) { $said[] = "$what $key"; });
same(['Ada', 'Bob', null, null], [$gate->ask('a', $db), $gate->ask('b', $db), $gate->ask('x', $db), $gate->ask('ghost', $db)]);
same([['missing b', 'falsePositive ghost'], 1, 1, true, false], [$said, $gate->missing, $gate->falsePositive, $gate->mayHave('x'), $gate->look(['x'])[0]]);

# a filter that fails: open asks, closed spares
foreach (['open' => ['Ada', 1], 'closed' => [null, 0]] as $fail => $expected) {
    $db->queries = 0;
    $gate = new Gate(new Broken(n: 10, p: 0.1), 'trust', $fail);
    same($expected, [$gate->ask('a', $db), $db->queries], $fail);
    same([1, $fail === 'open'], [$gate->failed, $gate->mayHave('b')], $fail);
}

# a filter that cannot be opened yet, or whose client throws: the same; and the next call tries again
class Away extends RuntimeException {}
foreach (['open', 'closed'] as $fail) {
    $tries = 0;
    $gate = new Gate(function () use (&$tries) { return $tries++ ? seen('a') : throw new Away; }, 'trust', $fail);
    same([$fail === 'open', true, false, 1, 1, 2], [$gate->mayHave('a'), $gate->mayHave('a'), $gate->mayHave('b'), $gate->failed, $gate->absent, $tries], $fail);
    $cache = new SimpleCache(new Psr16Cache(new ArrayAdapter), new Gate(fn() => throw new Away, 'trust', $fail));
    same($fail === 'open' ? 0 : Absent::NotInDatabase, $cache->get('a', 0), $fail);
}

refused('BloomFilterException', 'other', fn() => (new Gate(fn() => throw new BloomFilterException('other', BloomFilterException::MISMATCH)))->mayHave('a'));

# a filter that this process has created, or an empty one, answers for nobody
$new = fn() => new BloomFilter(n: 1000, p: 1e-6, overfull: 'ignore');
foreach (['open' => true, 'closed' => false] as $fail => $passes) {
    $f = $new();
    $f->add('a');
    $gate = new Gate($f, 'trust', $fail);
    same([true, $passes, 1], [$gate->mayHave('a'), $gate->mayHave('x'), $gate->failed], $fail);
    $f->rebuild(['a', 'b']);
    same([true, false, 1], [$gate->mayHave('b'), (new Gate($f, 'trust', $fail))->mayHave('x'), $gate->failed], $fail);
    same([$passes, true, false], [(new Gate($e = BloomFilter::fromBytes($new()->toBytes()), 'trust', $fail))->mayHave('a'), $e->add('b'), (new Gate($e, 'trust', $fail))->mayHave('a')], $fail);
    same(false, (new Gate($new(), 'trust', $fail, trust: true))->mayHave('x'), $fail);
    $gate = new Gate($new(), 'trust', $fail);
    $gate->trust();
    same(false, $gate->mayHave('x'));
}

# a file that was replaced: a closure opens the new one, within a second; a gate of an object says what `fail` says
$path = folder() . '/replaced.bloom';
$write = function (string ...$keys) use ($path) { seen(...$keys)->save("$path.new"); rename("$path.new", $path); };
$write('a');
$opened = 0;
$gate = new Gate(function () use ($path, &$opened) { $opened++; return BloomFilter::open($path); });
$fixed = [new Gate(BloomFilter::open($path)), new Gate(BloomFilter::open($path), fail: 'closed')];
same([true, false, true, false], [$gate->mayHave('a'), $gate->mayHave('b'), $fixed[0]->mayHave('a'), $fixed[1]->mayHave('b')]);
$write('b');
for ($end = hrtime(true) + 20e9; hrtime(true) < $end && !($gate->mayHave('b') && $fixed[0]->mayHave('b') && $fixed[1]->failed);) $fixed[1]->mayHave('b');
same([true, false, 2], [$gate->mayHave('b'), $gate->mayHave('a'), $opened]);
same([true, false, 'open it again'], [$fixed[0]->mayHave('c'), $fixed[1]->mayHave('b'), (function () use ($fixed) { try { $fixed[0]->filter(); } catch (BloomFilterException $e) { return substr($e->getMessage(), -13); } })()]);
unlink($path);
for ($end = hrtime(true) + 20e9; hrtime(true) < $end && !$gate->failed;) $gate->mayHave('x');
same([true, true], [$gate->failed > 0, $gate->mayHave('x')]);

# shadow: no answer is neither right nor wrong
$gate = new Gate(new Broken(n: 10, p: 0.1), 'shadow', 'closed');
same(['Ada', null, true, 0, 0, 0, 3], [$gate->ask('a', $db), $gate->ask('x', $db), $gate->mayHave('a'), $gate->missing, $gate->falsePositive, $gate->absent, $gate->failed]);

refused('ValueError', "mode must be 'trust' or 'shadow', got 'x'", fn() => new Gate(seen(), 'x'));
refused('ValueError', "fail must be 'open' or 'closed', got 'x'", fn() => new Gate(seen(), 'trust', 'x'));

# PSR-16; keys that begin with "page." are not the filter's
$key_of = fn(string $key) => str_starts_with($key, 'user.') ? substr($key, 5) : null;
$inner = new Psr16Cache(new ArrayAdapter);
$cache = new SimpleCache($inner, $gate = new Gate(seen('a', 'b')), $key_of);
same([null, 'none', Absent::NotInDatabase], [$cache->get('user.a'), $cache->get('user.a', 'none'), $cache->get('user.x', 'none')]);
same([true, true, 'Ada', 'home'], [$cache->set('user.a', 'Ada'), $cache->set('page.1', 'home'), $cache->get('user.a'), $cache->get('page.1')]);
same([true, false, false, true], [$cache->has('user.a'), $cache->has('user.b'), $cache->has('user.x'), $cache->has('page.1')]);
same(['user.a' => 'Ada', 'user.x' => Absent::NotInDatabase, 'user.b' => 0, 'page.2' => 0], $cache->getMultiple(new ArrayIterator(['user.a', 'user.x', 'user.b', 'page.2']), 0));
$db->queries = 0;
$user = fn(string $id) => $cache->remember("user.$id", fn() => $db($id), 60);
same(['Bob', 'Bob', null, 1, 'Bob'], [$user('b'), $user('b'), $user('x'), $db->queries, $inner->get('user.b')]);
same(['page', 'page'], [$cache->remember('page.3', fn() => 'page'), $inner->get('page.3')]);
same([true, true, true, true, true], [$cache->setMultiple(['user.c' => 1]), $cache->delete('user.b'), $cache->deleteMultiple(['user.c']), $cache->clear(), !$inner->has('user.a')]);
$shadow = new SimpleCache($inner, $gate = new Gate(seen('a'), 'shadow'), $key_of);
$inner->set('user.b', 'Bob');
same(['Bob', 0, true, 1], [$shadow->get('user.b'), $shadow->get('user.x', 0), $shadow->has('user.b'), $gate->missing]);
same([null, 1], [$shadow->remember('user.a', fn() => null), $gate->falsePositive]);

$cache = new SimpleCache($inner, new Gate(seen('a')));
same([true, false, true, false, 1], [$cache->set('a', $cache->get('x')), $inner->has('a'), $cache->setMultiple(new ArrayIterator(['a' => $cache->get('x'), 'b' => 1])), $inner->has('a'), $inner->get('b')]);
$inner->set('none', null);      # a stored null says: not in the database
$shadow = new SimpleCache($inner, $gate = new Gate(seen(), 'shadow'));
same([null, 0, 1, 1], [$shadow->get('none', 1), $gate->missing, $shadow->get('b'), $gate->missing]);

# a gated cache inside another one: its "absent" is a row that is not there, and is not stored
$within = new SimpleCache($inner = new Psr16Cache(new ArrayAdapter), new Gate(seen('a')));
$said = [];
$report = function (string $what, string $key) use (&$said) { $said[] = "$what $key"; };
$load = fn() => throw new Exception('the database was asked');
$shadow = new SimpleCache($within, new Gate(seen('b'), 'shadow', report: $report));
same([Absent::NotInDatabase, null, []], [$shadow->get('x'), $shadow->remember('x', $load), $said]);
same([Absent::NotInDatabase, null, ['falsePositive b', 'falsePositive b']], [$shadow->get('b'), $shadow->remember('b', $load), $said]);
$trust = new SimpleCache($within, new Gate(seen('a', 'b')));
same([null, Absent::NotInDatabase, false, 'Ada', 'Ada'], [$trust->remember('b', $load), $trust->get('b'), $trust->has('b'), $trust->remember('a', fn() => 'Ada'), $trust->get('a')]);
$over = new SimpleCache($inner, new Gate(seen('c')));
same([null, false], [$over->remember('c', fn() => $within->get('c')), $inner->has('c')]);
same(Absent::NotInDatabase, (new Gate(seen('x')))->ask('x', $within->get(...)));

# PSR-6
$inner = new ArrayAdapter;
$pool = new CachePool($inner, $gate = new Gate(seen('a', 'b')), $key_of);
$item = $pool->getItem('user.x');
same([true, Absent::NotInDatabase, 'user.x', false, false], [$item->isHit(), $item->get(), $item->getKey(), $pool->hasItem('user.x'), $inner->hasItem('user.x')]);
same([false, true, 'Ada', true], [$pool->getItem('user.a')->isHit(), $pool->save($pool->getItem('user.a')->set('Ada')), $pool->getItem('user.a')->get(), $pool->hasItem('user.a')]);
same([true, 'new', true], [$pool->save($item->set('new')->expiresAfter(60)->expiresAt(null)), $inner->getItem('user.x')->get(), $pool->getItem('page.1')->isHit() === false]);
# "absent" is not kept in the pool, where it would hide a row that is inserted later
same([true, true, false], [$pool->save($pool->getItem('user.z')->expiresAfter(60)), $pool->saveDeferred($pool->getItem('user.z')) && $pool->commit(), $inner->hasItem('user.z')]);
same(['user.a' => 'Ada', 'user.y' => Absent::NotInDatabase], array_map(fn($i) => $i->get(), $pool->getItems(['user.a', 'user.y'])));
same([true, true, true, true, true], [$pool->saveDeferred($item), $pool->commit(), $pool->deleteItem('user.x'), $pool->deleteItems(['user.a']), $pool->clear()]);
$shadow = new CachePool($inner, $gate = new Gate(seen('a'), 'shadow'), $key_of);
$inner->save($inner->getItem('user.b')->set('Bob'));
same(['Bob', false, 1], [$shadow->getItem('user.b')->get(), $shadow->getItem('user.x')->isHit(), $gate->missing]);
$inner->save($inner->getItem('user.c')->set(false));
same([false, 1], [$shadow->getItem('user.c')->get(), $gate->missing]);
# one inside another
$said = [];
$shadow = new CachePool(new CachePool($inner, new Gate(seen('a'))), new Gate(seen('b'), 'shadow', report: $report));
same([Absent::NotInDatabase, []], [$shadow->getItem('x')->get(), $said]);
same([Absent::NotInDatabase, false, ['falsePositive b', 'falsePositive b']], [$shadow->getItem('b')->get(), $shadow->hasItem('b'), $said]);
same([true, 'Bob'], [$shadow->save($shadow->getItem('b')->set('Bob')), $inner->getItem('b')->get()]);
# docs/frameworks.md
function check(mixed $got, mixed $expected): void { same($expected, $got, 'docs/frameworks.md'); }
$psr16 = new Psr16Cache($psr6 = new ArrayAdapter);
$db = new class { public function find(string $id): ?string { return ['7' => 'Ada'][$id] ?? null; } };
eval(file_get_contents($argv[1]));
echo "end\n";
