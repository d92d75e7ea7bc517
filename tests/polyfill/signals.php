<?php
/* signals.php block|classic|count: another process sends signals, and their handler adds to the filter that the program adds to.  Prints how many
 * signals came and how many added keys are absent. */
require __DIR__ . '/../../php-polyfill/autoload.php';
set_error_handler(fn() => true);
$kind = $argv[1];
$class = $kind === 'count' ? 'CountingBloomFilter' : 'BloomFilter';
$spec = $kind === 'classic' ? ['m' => 600, 'n' => 60] : ['n' => 60, 'p' => 0.01];
$filter = null;
$added = [];
$signals = $absent = 0;
pcntl_async_signals(true);
pcntl_signal(SIGUSR1, function () use (&$filter, &$added, &$signals) {
    $signals++;
    if ($filter && count($added) < 60) $filter->add($added[] = "s$signals");
});
$parent = getmypid();
if (!($child = pcntl_fork())) {
    while (posix_getppid() === $parent && posix_kill($parent, SIGUSR1)) usleep(mt_rand(1, 50));
    exit;
}
while ($signals < 3000) {
    $added = [];
    $filter = new $class(...$spec);
    for ($i = 0; $i < 40; $i++) $filter->add("m$i");
    [$full, $filter] = [$filter, null];
    for ($i = 0; $i < 40; $i++) $added[] = "m$i";
    foreach ($added as $key) $absent += (int) !$full->exists($key);
}
posix_kill($child, SIGKILL);
pcntl_waitpid($child, $status);
echo json_encode([$signals, $absent]);
