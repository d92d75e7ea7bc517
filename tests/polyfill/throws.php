<?php
/* throws.php AUTOLOAD: another process sends signals, and their handler throws into the calls of a filter.  Prints how often it threw, and how many keys
 * that a call said it added are absent. */
require $argv[1];
class Thrown extends Exception {}
$filters = [new BloomFilter(n: 100000, p: 0.001), new BloomFilter(m: 99999, n: 9999), new CountingBloomFilter(n: 30000, p: 0.001), new BloomFilter(n: 1000, p: 0.01, grow: 2.0, overfull: 'ignore')];
foreach ($filters as $f) [$f->addMany(['warm', 'er']), $f->existMany(['warm', 'er']), $f->exists('warm')];      # load the classes
[$signals, $inside, $added] = [0, false, []];
pcntl_async_signals(true);
pcntl_signal(SIGUSR1, function () use (&$signals, &$inside) {
    if (!$inside) return;
    $signals++;
    throw new Thrown;
});
$parent = getmypid();
if (!($child = pcntl_fork())) {
    while (posix_getppid() === $parent && posix_kill($parent, SIGUSR1)) usleep(mt_rand(1, 50));
    exit;
}
for ($n = 0; $signals < 600; $n++) {
    $f = $filters[$which = $n % 4];
    $keys = ["k$n", "l$n"];
    try {
        $inside = true;
        match (intdiv($n, 4) % 5) {
            0 => $f->existMany($keys),
            1 => $f->addMany($keys),
            2 => $f->exists($keys[0]),
            3 => $f->add($keys[0]),
            4 => $f->addNew($keys),
        };
        $inside = false;
        if (in_array(intdiv($n, 4) % 5, [1, 4])) $added[$which][] = $keys[1];
    } catch (Thrown) {
        $inside = false;
    }
}
posix_kill($child, SIGKILL);
pcntl_waitpid($child, $status);
foreach ($added as $which => $keys) $absent[] = count($keys) - array_sum($filters[$which]->existMany($keys));
echo json_encode([$signals, array_sum($absent), count($absent)]);
