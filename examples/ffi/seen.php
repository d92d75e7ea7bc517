<?php
// seen.php - a filter through PHP's FFI, for a PHP without the extension.  php seen.php [STORAGE]

$bf = FFI::cdef(file_get_contents(__DIR__ . '/bloomfilter_ffi.h'), 'libbloomfilter.so.1');
$err = $bf->new('bf_error');

// Negative answers and NULL are errors; the sentence is in $err.
function check(mixed $answer): mixed
{
    global $err;
    if ($answer === null || (is_int($answer) && $answer < 0)) {
        throw new RuntimeException(FFI::string($err->msg), $err->code);
    }
    return $answer;
}

function open_filter(int $n, float $p, ?string $storage): FFI\CData
{
    global $bf, $err;
    return check($bf->bf_create(0, $n, 0, $p, null, $storage, FFI::addr($err)));
}

// Adds a list of keys in one call. Returns a byte 1 for each new key, else a byte 0.
function add_many(FFI\CData $filter, array $keys): string
{
    global $bf, $err;
    $joined = implode('', $keys);
    $bytes = $bf->new('char[' . strlen($joined) + 1 . ']');
    FFI::memcpy($bytes, $joined, strlen($joined));
    $at = $bf->cast('char *', $bytes);
    $list = $bf->new('bf_key[' . count($keys) . ']');
    foreach ($keys as $i => $key) {
        $list[$i]->ptr = $at;
        $list[$i]->len = strlen($key);
        $at += strlen($key);
    }
    $each = $bf->new('uint8_t[' . count($keys) . ']');
    check($bf->bf_add_many($filter, $list, count($keys), $each, FFI::addr($err)));
    return FFI::string($each, count($keys));
}

$storage = $argv[1] ?? null;
$seen = open_filter(100_000, 0.001, $storage);
foreach (['https://example.org/', 'https://example.org/'] as $url) {
    $answer = check($bf->bf_add($seen, $url, strlen($url), FFI::addr($err)));
    echo $answer === $bf->BF_ADDED ? 'new' : 'present', "\n";
}
$other = 'https://example.org/other';
echo check($bf->bf_test($seen, $other, strlen($other), FFI::addr($err))) ? 'present' : 'absent', "\n";
echo implode('', unpack('C*', add_many($seen, ['a', 'b', 'a']))), "\n";
$bf->bf_close($seen);
try {
    $bf->bf_close(open_filter(100, 2.0, $storage));
} catch (RuntimeException $e) {
    echo "error {$e->getCode()}: {$e->getMessage()}\n";
}
