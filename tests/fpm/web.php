<?php
/* web.php - the page that the workers serve in tests/fpm/run: one small job a request, its answer as text. */
$folder = __DIR__ . '/data';
$seen = "$folder/seen.bloom";

/** Adds the keys "name:from" to "name:to-1", one by one or as a batch, and acknowledges. */
function add(bool $batch): string
{
    global $seen;
    ['name' => $name, 'from' => $from, 'to' => $to] = $_GET;
    $f = new BloomFilter(n: 1_000_000, p: 0.0001, storage: $seen);
    if ($batch) $f->addMany((function () use ($name, $from, $to) { for ($i = (int)$from; $i < $to; $i++) yield "$name:$i"; })());
    else for ($i = (int)$from; $i < $to; $i++) $f->add("$name:$i");
    return 'ok ' . getmypid() . " $name $from $to";
}

/** How many keys of the acknowledged ranges in the request's body are absent. */
function missing(): string
{
    global $seen;
    $f = BloomFilter::open($seen);
    $missing = 0;
    foreach (explode("\n", trim(file_get_contents('php://input'))) as $range) {
        [$name, $from, $to] = explode(' ', $range);
        for ($i = (int)$from; $i < $to; $i++) $missing += !$f->exists("$name:$i");
    }
    return "$missing";
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
        'one' => add(false),
        'many' => add(true),
        'check' => missing(),
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
