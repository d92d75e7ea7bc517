<?php
/* web.php - the page that the workers serve in tests/fpm/run: one small job a request, its answer as text.  And PHP on the command line beside them:
 *   add FILE NAME FROM TO     adds the keys "NAME:FROM" to "NAME:TO-1" one by one, then prints "NAME FROM TO"
 *   check FILE                reads such lines and prints how many of their keys are absent */
$folder = __DIR__ . '/data';
$seen = "$folder/seen.bloom";

/** Adds these keys, one by one or as a batch; slowly: so that it lasts as long as the others. */
function add(string $path, bool $batch, bool $slowly, string $name, int $from, int $to): string
{
    $f = new BloomFilter(n: 1_000_000, p: 0.0001, storage: $path);
    if ($batch) $f->addMany((function () use ($name, $from, $to) { for ($i = $from; $i < $to; $i++) yield "$name:$i"; })());
    else for ($i = $from; $i < $to; $i++) {
        $f->add("$name:$i");
        if ($slowly && $i % 1000 === 0) usleep(5000);
    }
    return "$name $from $to";
}

/** How many keys of the acknowledged ranges are absent. */
function missing(string $path, string $ranges): int
{
    $f = BloomFilter::open($path);
    $missing = 0;
    foreach (explode("\n", trim($ranges)) as $range) {
        [$name, $from, $to] = explode(' ', $range);
        for ($i = (int)$from; $i < $to; $i++) $missing += !$f->exists("$name:$i");
    }
    return $missing;
}

if (PHP_SAPI === 'cli') {
    [, $do, $path] = $argv;
    echo $do === 'add' ? add($path, false, true, $argv[3], (int)$argv[4], (int)$argv[5]) : missing($path, stream_get_contents(STDIN)), "\n";
    exit;
}

function kept(): string
{
    ob_start();
    (new ReflectionExtension('bloomfilter'))->info();
    return preg_match('~kept open\D*[1-9]~', strip_tags(ob_get_clean())) ? 'kept' : 'not kept';
}

$file = isset($_GET['file']) ? realpath(dirname("$folder/$_GET[file]")) . '/' . basename($_GET['file']) : '';
$secret = $_GET['secret'] ?? null;
$like = ['n' => 1000, 'p' => 0.001];
try {
    echo match ($_GET['do']) {
        'one', 'many' => 'ok ' . getmypid() . ' ' . add($seen, $_GET['do'] === 'many', false, $_GET['name'], (int)$_GET['from'], (int)$_GET['to']),
        'check' => missing($seen, file_get_contents('php://input')),
        'pid' => getmypid(),
        'kept' => kept(),
        'make' => count(new BloomFilter(...$like, secret: $secret, storage: $file)) === 0 ? 'made' : 'not empty',
        'exists' => BloomFilter::open($file, $secret)->exists("$_GET[name]:0") ? 'yes' : 'no',
        'add' => BloomFilter::open($file)->add("$_GET[name]:0") ? 'new' : 'old',
        'm' => BloomFilter::plan(...$like)['m'],
        'size' => 4096 + BloomFilter::plan(...$like)['m'] / 8,
    }, "\n";
} catch (BloomFilterException $e) {
    echo get_class($e), ': ', $e->getMessage(), "\n";
}
