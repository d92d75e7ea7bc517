<?php
/* storm.php AUTOLOAD HOW [CLIENT PORT]: another process sends signals, and their handler throws HOW, an Error or Exception, or ends the program, with
 * exit.  In memory the calls are those on complete filters, and adds to filters that fill; with a CLIENT, a filter in Redis.  None is the argument of
 * another one here: PHP 8.2 itself may crash there.  Prints how often it threw and how many answers are wrong: also, in the end, that a key is absent
 * whose call returned. */
[, $autoload, $how, $client, $port] = $argv + [3 => '', ''];
require $autoload;
if ($client === 'predis') require '/usr/share/php/Predis/autoload.php';
$parameters = ['n' => 1000, 'p' => 0.001] + ($client ? ['key' => 'storm', 'storage' => match ($client) {
    'predis' => new Predis\Client("tcp://127.0.0.1:$port"),
    'phpredis' => (function () use ($port) {
        $redis = new Redis;
        $redis->connect('127.0.0.1', (int) $port);
        return $redis;
    })(),
}] : []);
$f = new BloomFilter(...$parameters);
$f->addMany($present = ['a', 'b', 'c']);
$counting = new CountingBloomFilter(...array_replace($parameters, $client ? ['key' => 'counts'] : []));
$growing = new BloomFilter(...array_replace($parameters, ['n' => 10, 'grow' => 2.0] + ($client ? ['key' => 'grows'] : [])));
$growing->addMany(range(1, 50));
$bytes = $f->toBytes();
$file = tempnam(sys_get_temp_dir(), 'storm');
$copy = clone $f;
$copy->save($file);
[$bound, $base64, $serialized, $numbers] = [BloomFilter::open($file), $copy->toBase64(), serialize($copy), range(1, 40)];
$kept = [];
$fills = fn(BloomFilter $one) => function () use ($one, &$kept, &$n) {
    $one->addMany(["k$n", "l$n"]);
    $one->add("m$n");
    $kept[] = [$one, $n];
};
$calls = $client ? [
    fn() => $f->exists('none'), fn() => $f->existMany($present), fn() => $f->add('a'), fn() => $f->info(), fn() => BloomFilter::open($parameters['storage'], key: 'storm'),
    fn() => new BloomFilter(...$parameters), fn() => $f->isCurrent(), fn() => $f->toBytes(), fn() => $f->expire(1000),
    fn() => $growing->exists('none'), fn() => $growing->addMany($numbers), fn() => $growing->hashcode('x'), fn() => $counting->remove('x'), fn() => $counting->countOf('x'),
] : [
    fn() => new BloomFilter(n: 1000, p: 0.01), fn() => BloomFilter::plan(n: 1000, p: 0.01), fn() => $f->info(), fn() => $f->fpr(), fn() => $f->union($f),
    fn() => $f->toBytes('redisson'), fn() => BloomFilter::fromBytes($bytes), fn() => $f->toBase64(), fn() => BloomFilter::fromBase64($base64), fn() => $f->save('php://memory'),
    fn() => BloomFilter::load($file), fn() => $bound->exists('a'), fn() => BloomFilter::open($file), fn() => $counting->clear(), fn() => $counting->toPlain(),
    fn() => serialize($f), fn() => unserialize($serialized), fn() => json_encode($f), fn() => $f->equals($copy), fn() => clone $f, fn() => $growing->toBytes(), fn() => $growing->partInfo(),
    fn() => $growing->hashcode('x'), fn() => $growing->addMany($numbers), fn() => $f->rebuild($present), fn() => $f->bitset, fn() => $f->merge($f),
    fn() => $f->isSubsetOf($f), fn() => new BloomFilter(n: 0, p: 2), fn() => $f->add([]),
    ...array_map($fills, [new BloomFilter(n: 1_000_000, p: 0.001), new BloomFilter(m: 999_999, n: 99_999), new CountingBloomFilter(n: 300_000, p: 0.001),
        new BloomFilter(n: 1000, p: 0.01, grow: 2.0, overfull: 'ignore')]),
];
class ThrownError extends Error {}
class ThrownException extends Exception {}
[$thrown, $wrong, $inside, $class] = [0, 0, false, "Thrown$how"];
pcntl_async_signals(true);
pcntl_signal(SIGUSR1, function () use (&$thrown, &$inside, $class, $how) {
    if (!$inside) return;
    $inside = false;
    $thrown++;
    if ($how === 'exit') exit;
    throw new $class;
});
$check = function () use ($f, $present, &$wrong) { $wrong += count($present) - array_sum($f->existMany($present)) + (int) $f->exists('absent'); };
$main = getmypid();
if (!($child = pcntl_fork())) {
    while (posix_getppid() === $main && posix_kill($main, SIGUSR1)) usleep(mt_rand(20, 300));
    posix_kill(getmypid(), SIGKILL);
}
register_shutdown_function(function () use (&$thrown, &$wrong, &$kept, $check, $child, $file) {
    posix_kill($child, SIGKILL);
    pcntl_waitpid($child, $status);
    $check();
    foreach ($kept as [$one, $n]) $wrong += 3 - array_sum($one->existMany(["k$n", "l$n", "m$n"]));
    unlink($file);
    echo json_encode([$thrown, $wrong]);
});
for ($n = 0; $thrown < ($client ? 60 : 400); $n++) {
    try {
        try {
            $inside = true;
            $calls[$n % count($calls)]();
        } finally {
            $inside = false;
        }
    } catch (ThrownError | ThrownException | ValueError | TypeError | BloomFilterException) {
    }
    if ($client || $n % 50 === 0) $check();
}
