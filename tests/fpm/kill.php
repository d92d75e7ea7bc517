<?php
/* kill.php - kills writers of one file with -9, again and again, and looks for every key they acknowledged.
 *   EXTENSION FOLDER ROUNDS SEED
 * Runs with bloomfilter.max_maps=0: each look at the file opens it anew, with all checks of an opening. */
require __DIR__ . '/checks.inc';
[, $extension, $folder, $rounds, $seed] = $argv;
const LIKE = ['n' => 2_000_000, 'p' => 1e-6];               # a lost key is not taken for present by chance
const ROUNDS_A_FILE = 40;
mt_srand((int)$seed);

/** Two writers, killed at about the same moment; [name => acknowledged keys]. */
function round_of(int $round, string $mode, string $path): array
{
    global $extension, $folder;
    $writers = [];
    foreach (["a$round", "b$round"] as $name) {
        $command = [PHP_BINARY, '-n', '-d', "extension=$extension", __DIR__ . '/killed.php', $mode, $path, $name, "$folder/ack.$name"];
        $writers[$name] = proc_open($command, [2 => STDERR], $pipes);
    }
    for ($wait = 0; $wait < 4000 && count(array_filter(array_keys($writers), fn($name) => acknowledged($name))) < 1; $wait++) usleep(500);
    usleep(mt_rand(0, 12_000));
    foreach ($writers as $writer) proc_terminate($writer, 9);
    foreach ($writers as $writer) proc_close($writer);
    $counts = [];
    foreach ($writers as $name => $_) {
        $counts[$name] = acknowledged($name);
        if (file_exists("$folder/ack.$name")) unlink("$folder/ack.$name");
    }
    return $counts;
}

function acknowledged(string $name): int
{
    global $folder;
    $counts = @file_get_contents("$folder/ack.$name");
    $whole = intdiv(strlen((string)$counts), 4);
    return $whole ? unpack('V', $counts, 4 * $whole - 4)[1] : 0;
}

/** How many of the acknowledged keys are absent. */
function lost(string $path, array $counts): int
{
    $f = BloomFilter::open($path);
    $lost = 0;
    foreach ($counts as $name => $n) {
        $keys = [];
        for ($i = 0; $i < $n; $i++) $keys[] = "$name:$i";
        $lost += $n - array_sum($f->existMany($keys));
    }
    return $lost;
}

/** Of the files that creators made: how many do not open, or lack what was acknowledged; and how many temporary ones stayed. */
function look_at_made(string $path, array $counts): array
{
    $broken = $temporary = 0;
    foreach (glob("$path.*") as $made) {
        if (str_contains($made, '.bloomfilter-tmp-')) $temporary++;
        else try {
            $f = BloomFilter::open($made);
            $number = (int)substr($made, strlen($path) + 1);
            foreach ($counts as $name => $n) $broken += $number <= $n && !$f->exists($name);
        } catch (BloomFilterException $e) {
            echo '   ', $e->getMessage(), "\n";
            $broken++;
        }
        unlink($made);
    }
    return [$broken, $temporary];
}

/** Two rounds of three add one by one or in batches, every tenth makes files. */
function mode_of(int $round): string { return $round % 10 === 9 ? 'make' : ($round % 3 === 2 ? 'many' : 'one'); }

$keys = $lost = $broken = $temporary = $idle = 0;
for ($round = 0; $round < $rounds && $idle < 3; $round++) {
    if ($round % ROUNDS_A_FILE === 0) {
        $path = "$folder/$round.bloom";
        new BloomFilter(...LIKE, storage: $path);
        $all = [];
    }
    $mode = mode_of($round);
    $counts = round_of($round, $mode, $path);
    $idle += array_sum($counts) === 0;
    if ($mode === 'make') {
        [$b, $t] = look_at_made($path, $counts);
        $broken += $b;
        $temporary += $t;
    } else {
        $keys += array_sum($counts);
        $lost += lost($path, $counts);
        $all += $counts;
    }
    if ($round % ROUNDS_A_FILE === ROUNDS_A_FILE - 1 || $round === $rounds - 1 || $idle === 3) {
        $lost += lost($path, $all);
        check(array_values(array_diff(scandir($folder), ['.', '..'])) === [basename($path)], "rounds up to $round: nothing but the file is left");
        unlink($path);
    }
}
echo "   $round rounds of kill -9, $keys keys acknowledged, $temporary temporary files of killed creators\n";
check($lost === 0, "no acknowledged key is lost ($lost)");
check($broken === 0, "no file of a killed creator is broken ($broken)");
check($idle === 0 && $keys > 0, "writers were at work in each round ($idle without)");
