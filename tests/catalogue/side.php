<?php
/* side.php - the PHP side of the catalogue; see side.c, which speaks the same.  Further values: t1 true, n0 null, l0 an array;
 * oNAME PORT
 * a client (clients.py); rNAME PATH a stream;  outcome: ok, or the class of what was thrown, with a BloomFilterException's code behind a colon. */
declare(strict_types=1);
ini_set('memory_limit', '-1');
ini_set('display_errors', 'stderr');
set_error_handler(fn(int $level, string $what) => throw new ErrorException($what));         // no warning, no deprecation

const NAMES = ['cache_max_age' => 'cacheMaxAge', 'wait_replicas' => 'waitReplicas'];

/** What refuses its commands from the beginning, or once a filter was made with it: as a subclass of the user's might. */
if (class_exists('Redis')) {
    eval('class Refusing extends Redis {
        public bool $refuses = false;
        public function rawCommand($command, ...$args): mixed { return $this->refuses ? throw new RuntimeException("no way") : parent::rawCommand($command, ...$args); }
        public function pipeline(): Redis|bool { return $this->refuses ? throw new RuntimeException("no way") : parent::pipeline(); }
    }');
}

function client(string $name, int $port): mixed
{
    if ($name === 'object') return new stdClass;
    $client = $name === 'raises' || $name === 'turns' ? new Refusing : new Redis;
    try { $client->connect('127.0.0.1', $port, 5); } catch (RedisException) { }          // it tries again with each command
    if ($name === 'pipelining') $client->pipeline();
    if ($client instanceof Refusing) $client->refuses = $name === 'raises';
    return $client;
}

function stream(string $name, string $path): mixed
{
    $stream = fopen($path, in_array($name, ['written', 'full'], true) ? 'wb' : 'rb');
    if ($name === 'closed') fclose($stream);
    return $stream;
}

function value(string $text): mixed
{
    $rest = substr($text, 1);
    return match ($text[0]) {
        'i' => is_int($whole = filter_var($rest, FILTER_VALIDATE_INT)) ? $whole : (float) $rest,     // as a literal of PHP
        'f' => match ($rest) { 'nan' => NAN, 'inf' => INF, '-inf' => -INF, default => (float) $rest },
        'b', 'p' => hex2bin($rest),
        'o' => client(strtok($rest, ' '), (int) strtok(' ')),
        'r' => stream(strtok($rest, ' '), strtok('')),
        't' => true,
        'n' => null,
        'l' => [],
    };
}

function describe(BloomFilter $f): string { return "$f->m $f->n $f->k $f->scheme"; }

/** The arguments by PHP's names. */
function named(array $args, string $prefix = ''): array
{
    $given = [];
    foreach ($args as $name => $value)
        if ($name !== 'arg' && $name !== $prefix . 'counting' && str_starts_with($name, $prefix)) $given[NAMES[substr($name, strlen($prefix))] ?? substr($name, strlen($prefix))] = $value;
    return $given;
}

function type(array $args, string $prefix = ''): string { return isset($args[$prefix . 'counting']) ? CountingBloomFilter::class : BloomFilter::class; }

function filter(array $args, string $prefix = ''): BloomFilter
{
    $f = new (type($args, $prefix))(...named($args, $prefix));
    if (($args['storage'] ?? null) instanceof Refusing) $args['storage']->refuses = true;
    return $f;
}

function one_key(BloomFilter $f, mixed $key): string
{
    return implode(' ', array_map(intval(...), [$f->add($key), $f->add($key), $f->exists($key), $f->addMany([$key, 'after']), ...$f->hashcode($key)]));
}

function ask(BloomFilter $f, string $op, array $args): string
{
    $key = array_key_exists('arg', $args) ? $args['arg'] : 'good';
    return match ($op) {
        'add', 'addto' => (string) (int) $f->add($key),
        'test' => (string) (int) $f->exists($key),
        'batch' => (string) $f->addMany(['good', $key, 'after']),
        'testbatch' => (string) array_sum(array_map(intval(...), $f->existMany(['good', $key, 'after']))),
        'remove' => (string) (int) $f->remove($key),
        'count' => (string) $f->countOf($key),
        'removebatch' => (string) $f->removeMany(['good', $key, 'after']),
        'hashcode' => $f->hashcode($key) ? '' : 'none',
        'key' => one_key($f, $key),
        'save' => (string) $f->save($key),
    };
}

function sets(BloomFilter $f, string $op, array $args): string
{
    $other = array_key_exists('arg', $args) ? $args['arg'] : filter($args, 'b.');
    if ($op === 'equal') return (string) (int) $f->equals($other);
    $f->$op($other);
    return '';
}

// ---- many keys, for tests/cross: see side.c ----
/** @return array{list<string|int>, list<string|int>} all keys in their PHP types, and those to add, which come first */
function keys_in(string $path): array
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

function answers(string $label, array $each): string { return "$label " . implode('', array_map('intval', $each)) . "\n"; }
function real(float $d): string { return bin2hex(pack('E', $d)); }
function parameters(BloomFilter $f): string { return "parameters $f->m $f->n $f->k " . real($f->p) . " $f->scheme\n"; }

function found(BloomFilter $f, array $keys): string
{
    return answers('single', array_map($f->exists(...), $keys)) . answers('batch', $f->existMany($keys))
        . 'state ' . count($f) . ' ' . real($f->fillRatio()) . ' ' . real($f->fpr()) . "\n";
}

function positions(BloomFilter $f, array $keys): string
{
    return implode(array_map(fn($i, $key) => "positions $i " . implode(' ', $f->hashcode($key)) . "\n", array_keys($keys), $keys));
}

function filled(BloomFilter $f, array $keys, array $added, string $bytes, string $saved): string
{
    $even = array_filter($added, fn(int $i) => $i % 2 === 0, ARRAY_FILTER_USE_KEY);
    $text = parameters($f) . answers('add', array_map($f->add(...), $even));
    $new = $f->addNew($added);
    $text .= answers('update', array_map(fn(int $i) => array_key_exists($i, $new), array_keys($added)));
    $f->save($saved);
    file_put_contents($bytes, $f->toBytes());
    return $text . positions($f, $keys) . found($f, $keys);
}

function many(string $op, array $args): string
{
    [$keys, $added] = keys_in($args['keys']);
    $given = array_diff_key($args, ['keys' => 0, 'bytes' => 0, 'saved' => 0, 'how' => 0]);
    ini_set('bloomfilter.warn', '0');     // some are filled past n on purpose
    if ($op === 'positions') return positions(filter($given), $keys);
    if ($op === 'make') return filled(filter($given), $keys, $added, $args['bytes'], $args['saved']);
    [$path, $secret] = [$args['storage'], $args['secret'] ?? null];
    $f = match ($args['how']) {
        'saved' => BloomFilter::load($path, $secret),
        'bytes' => BloomFilter::fromBytes(file_get_contents($path), $secret),
        'mapped' => BloomFilter::open($path, $secret),
    };
    return parameters($f) . found($f, $keys);
}

class Setup extends Exception {}
function made(callable $make): BloomFilter
{
    try { return $make(); } catch (Throwable $t) { throw new Setup($t->getMessage()); }
}

function serve(string $op, array $args): string
{
    $path = $args['storage'] ?? null;
    $type = type($args);
    $how = array_intersect_key($args, ['secret' => 0, 'key' => 0]);
    switch ($op) {
        case 'plan':
            $plan = $type::plan(...named($args));
            return "$plan[m] $plan[n] $plan[k] $plan[scheme]";
        case 'new': return describe(filter($args));
        case 'from_bytes': case 'from_base64':
            [$data, $text] = [$args['data'], $op === 'from_base64'];
            unset($args['data'], $args['counting']);
            if (is_string($data) && !str_contains($data, "\0") && is_file($data)) $data = $text ? base64_encode(file_get_contents($data)) : file_get_contents($data);
            return describe($text ? $type::fromBase64($data, ...$args) : $type::fromBytes($data, ...$args));
        case 'make': case 'read': case 'positions': return many($op, $args);
        case 'from_json': return describe($type::fromJson($args['data']));
        case 'to_base64': return filter($args)->toBase64();
        case 'load': return describe($type::load($path, $args['secret'] ?? null));
        case 'open': return describe($type::open($path, ...$how));
        case 'openro': return describe($type::open($path, ...$how, readOnly: true));
        case 'addto': return ask(made(fn() => BloomFilter::open($path)), $op, $args);
        case 'union': case 'intersect': case 'equal': return sets(made(fn() => filter($args, 'a.')), $op, $args);
        default: return refused_batch(made(fn() => filter($args)), $op, $args);
    }
}

/** A batch that is refused says what it added all the same. */
function refused_batch(BloomFilter $f, string $op, array $args): string
{
    try {
        return ask($f, $op, $args);
    } catch (ValueError $e) {
        if ($op !== 'batch') throw $e;
        throw new ValueError($e->getMessage() . '; before ' . (int) $f->exists('good') . ' after ' . (int) $f->exists('after'));
    }
}

while (($line = fgets(STDIN)) !== false) {
    $parts = explode("\t", rtrim($line, "\n"));
    $op = array_shift($parts);
    $args = [];
    foreach ($parts as $part) [$name, $args[$name]] = (fn($pair) => [$pair[0], value($pair[1])])(explode('=', $part, 2));
    try {
        [$outcome, $text] = ['ok', serve($op, $args)];
    } catch (Setup $t) {
        [$outcome, $text] = ['setup', $t->getMessage()];
    } catch (Throwable $t) {
        [$outcome, $text] = [$t::class . ($t instanceof BloomFilterException ? ':' . $t->getCode() : ''), $t->getMessage()];
    }
    echo $outcome, "\t", bin2hex($text), "\n";
}
