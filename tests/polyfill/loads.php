<?php
/* loads.php AUTOLOAD: another process sends signals while the classes are loaded, and their handler uses them too.  Prints what failed. */
require $argv[1];
[$failed, $busy] = [null, false];
pcntl_async_signals(true);
pcntl_signal(SIGUSR1, function () use (&$failed, &$busy) {
    if ($busy) return;
    $busy = true;
    try {
        (new CountingBloomFilter(n: 10, p: 0.1))->add('x');
    } catch (Throwable $e) {
        $failed ??= $e->getMessage();
    }
    $busy = false;
});
$parent = getmypid();
if (!($child = pcntl_fork())) {
    while (posix_getppid() === $parent) for ($i = posix_kill($parent, SIGUSR1); $i < 300; $i++);
    exit;
}
try {
    $f = new BloomFilter(n: 10, p: 0.1);
    $f->addMany(['a', 'b']);
    $f->info();
    $f->toBytes();
} catch (Throwable $e) {
    $failed ??= $e->getMessage();
}
posix_kill($child, SIGKILL);
echo $failed ?? 'fine';
