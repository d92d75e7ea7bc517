<?php
/* side.php - the PHP side of the cross-language tests; see side.c, which is the same program. */
declare(strict_types=1);
ini_set('memory_limit', '-1');
ini_set('bloomfilter.warn', '0');     // some are filled past n on purpose

/** @return array{list<string|int>, list<string|int>} all keys in their PHP types, and those to add, which come first */
function read_keys(string $path): array
{
    $bytes = file_get_contents($path);
    $keys = $added = [];
    for ($at = 0; $at < strlen($bytes); $at += 5 + $length) {
        $length = unpack('V', $bytes, $at + 1)[1];
        $text = substr($bytes, $at + 5, $length);
        $keys[] = $key = strtolower($bytes[$at]) === 'i' ? (int) $text : $text;
        if ($bytes[$at] >= 'a') $added[] = $key;
    }
    return [$keys, $added];
}

function print_answers(string $label, array $each): void { echo "$label ", implode('', array_map('intval', $each)), "\n"; }
function real(float $d): string { return bin2hex(pack('E', $d)); }
function print_parameters(BloomFilter $f): void { echo "parameters $f->m $f->n $f->k ", real($f->p), " $f->scheme\n"; }
function print_state(BloomFilter $f): void { echo 'state ', count($f), ' ', real($f->fillRatio()), ' ', real($f->fpr()), "\n"; }

function print_presence(BloomFilter $f, array $keys): void
{
    print_answers('single', array_map($f->exists(...), $keys));
    print_answers('batch', $f->existMany($keys));
}

function print_positions(BloomFilter $f, array $keys): void
{
    foreach ($keys as $i => $key) echo "positions $i ", implode(' ', $f->hashcode($key)), "\n";
}

/** The cells of one line of CASES: name, home, and what the constructor is given. */
function parse(string $line): array
{
    [$name, $home, $scheme, $m, $n, $k, $p, $secret] = explode("\t", $line);
    $given = array_filter(compact('scheme', 'm', 'n', 'k', 'p', 'secret'), fn($value) => $value !== '-');
    foreach ($given as $letter => &$value) $value = match ($letter) {
        'm', 'n', 'k' => (int) $value,
        'p' => (float) $value,
        'secret' => hex2bin($value),
        default => $value,
    };
    return [$name, $home, $given];
}

function make(string $path, string $home, array $given, array $keys, array $added): void
{
    $f = new BloomFilter(...$given, ...($home === 'file' ? ['storage' => "$path.php.mapped"] : []));
    print_parameters($f);
    $even = array_filter($added, fn(int $i) => $i % 2 === 0, ARRAY_FILTER_USE_KEY);
    print_answers('add', array_map($f->add(...), $even));
    $new = $f->addNew($added);
    print_answers('update', array_map(fn(int $i) => array_key_exists($i, $new), array_keys($added)));
    print_presence($f, $keys);
    print_positions($f, $keys);
    print_state($f);
    $f->save("$path.php.saved");
    file_put_contents("$path.php.bytes", $f->toBytes());
}

function read_others(string $path, string $home, array $given, array $keys): void
{
    $secret = $given['secret'] ?? null;
    $ways = ['saved' => fn($file) => BloomFilter::load($file, $secret), 'bytes' => fn($file) => BloomFilter::fromBytes(file_get_contents($file), $secret)];
    if ($home === 'file') $ways['mapped'] = fn($file) => BloomFilter::open($file, $secret);
    foreach (['c', 'php', 'py'] as $side) foreach ($ways as $how => $open) {
        $f = $open("$path.$side.$how");
        echo "read $side $how\n";
        print_parameters($f);
        print_presence($f, $keys);
        print_state($f);
    }
}

[, $what, $cases, $keys_file, $folder] = $argv;
[$keys, $added] = read_keys($keys_file);
foreach (file($cases, FILE_IGNORE_NEW_LINES) as $line) {
    [$name, $home, $given] = parse($line);
    echo "case $name\n";
    match ($what) {
        'make' => make("$folder/$name", $home, $given, $keys, $added),
        'read' => read_others("$folder/$name", $home, $given, $keys),
        'positions' => print_positions(new BloomFilter(...$given), $keys),
    };
}
